-- Maintenance that venues announced: of the last ninety days, under way, and to come.
--
-- $1 venue, or null for all; $2 most events, the last to begin take precedence. One row {generated_at, body}, or none
-- if the venue is not published. The body has no generatedAt: it changes only with its events.
with chosen as (
  select v.venue_id, v.venue, v.name, v.feed_id from venue v where v.venue = $1::text and v.published
),
listed as (
  select m.*
  from api.maintenance m
  where ($1::text is null or m.venue_id = (select c.venue_id from chosen c))
    and m.started_at >= (select k.generated_at - interval '90 days' from api.clock k)
  order by m.started_at desc, m.notice_id desc, m.venue_id
  limit $2::int
)
select
  k.generated_at,
  json_build_object(
    'venue', case when c.venue_id is not null then json_build_object('id', c.venue, 'name', c.name) end,
    'hasSource', c.venue_id is null or c.feed_id is not null,
    'events', (
      select coalesce(
        json_agg(
          json_build_object(
            'id', api.feed_uuid(format('maintenance %s %s', l.venue_id, l.notice_id)),
            'venueName', l.venue_name,
            'title', l.title,
            'url', l.url,
            'status', l.status,
            'startsAt', api.iso(l.started_at),
            'isStartGiven', l.is_start_given,
            'endsAt', api.iso(l.ends_at),
            'isEndPlanned', l.is_end_planned,
            'isCancelled', l.is_cancelled,
            'modifiedAt', api.iso(api.notice_modified_at(l.notice_id))
          )
          order by l.started_at, l.notice_id, l.venue_id
        ),
        '[]'
      )
      from listed l
    )
  )::text as body
from api.clock k
left join chosen c on true
where $1::text is null or c.venue_id is not null
