-- The feed of pauses of deposits and withdrawals, the newest news first.
--
-- $1 venue, or null for all; $2 most entries. One row {generated_at, body}, or none if the venue is not published. The
-- body has no generatedAt: it changes only with its entries.
with chosen as (
  select v.venue_id, v.venue, v.name from venue v where v.venue = $1::text and v.published
),
-- The beginnings of pauses, and their ends. A line that is unknown for a while has not been declared open, so its pause
-- goes on. Pauses of ninety days, because the end of a long one is news as well.
news as (
  select
    p.*,
    lead(p.started_at) over (partition by p.line_id, p.direction order by p.started_at) as ended_at
  from (
    select s.line_id, s.direction, s.state, s.started_at, s.because
    from transfer_span s
    where s.begins
      and s.state <> 'unknown'
      and s.started_at > (select k.generated_at - api.transfer_days() * interval '1 day' from api.clock k)
    union all
    select t.line_id, t.direction, t.state, t.since, t.because
    from transfer_state t
    where t.begins and t.state <> 'unknown'
  ) p
),
newest as materialized (
  select n.*, l.asset, l.venue_network, l.network, l.venue_id, coalesce(n.ended_at, n.started_at) as updated_at
  from news n
  join transfer_line l using (line_id)
  join transfer_asset a using (asset)
  join transfer_source s using (venue_id)
  join venue v using (venue_id)
  where n.state = 'paused' and a.published and s.published and v.published
    and ($1::text is null or l.venue_id = (select c.venue_id from chosen c))
  order by updated_at desc, n.line_id, n.direction
  limit $2::int
)
select
  k.generated_at,
  json_build_object(
    'id', api.feed_uuid(coalesce('transfers of ' || c.venue_id, 'transfers')),
    'venue', case when c.venue_id is not null then json_build_object('id', c.venue, 'name', c.name) end,
    'updatedAt', api.iso(coalesce((select max(n.updated_at) from newest n), f.made_at)),
    'entries', (
      select coalesce(
        json_agg(
          json_build_object(
            'id', api.feed_uuid(format('pause %s %s %s', n.line_id, n.direction, api.iso(n.started_at))),
            'venue', v.venue,
            'venueName', v.name,
            'category', v.category,
            'asset', n.asset,
            'network', coalesce(w.name, n.venue_network),
            'direction', n.direction,
            'startedAt', api.iso(n.started_at),
            'endedAt', api.iso(n.ended_at),
            'because', n.because
          )
          order by n.updated_at desc, n.line_id, n.direction
        ),
        '[]'
      )
      from newest n
      join venue v using (venue_id)
      left join transfer_network w on w.network = n.network and w.published
    )
  )::text as body
from api.clock k
cross join feed_identity f
left join chosen c on true
where $1::text is null or c.venue_id is not null
