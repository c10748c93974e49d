-- Claim the list of transfers to read now: the one that is overdue the longest, if any; reserved for the caller for as
-- long as reading may take. As claim_feed.sql does, a list whose readings did not end is reserved for longer each time.
--
-- $1 now, or null: by this database's clock; $2 how long reading may take, milliseconds; $3 the kinds that the caller
-- can read, because another build may know more. One row {at, venue_id, venue, kind, api, wanted, unended_readings,
-- read_at, list_at, list_moved_at, unreadable_since, due_at}; `wanted` is {the venue's name of an asset, in small
-- letters: the asset}. If nothing is due, venue_id is null, and due_at is when something will be; null if there are no
-- lists.
with now as materialized (
  -- whole milliseconds, so that the claimant can recognise its claim by this time
  select date_trunc('milliseconds', coalesce($1::timestamptz, clock_timestamp())) as at
),
claimed as (
  update transfer_source s
  set due_at = n.at + least($2::int * power(4, s.unended_readings), 3600000) * interval '1 millisecond',
    unended_readings = least(s.unended_readings + 1, 10)
  from now n
  where s.venue_id = (
    select d.venue_id
    from transfer_source d
    join venue v using (venue_id)
    where d.published and v.published and d.kind = any ($3::text[])
      and (v.ends_at <= (select at from now)) is not true
      -- nothing is postponed by more than an hour: a later time comes from a wrong clock
      and (d.due_at <= (select at from now) or d.due_at > (select at from now) + interval '90 minutes')
    order by d.due_at, d.venue_id
    limit 1
    for update of d skip locked
  )
  returning s.*
)
select
  n.at,
  c.venue_id,
  v.venue,
  c.kind,
  a.address as api,
  (
    -- a name that only this venue uses wins
    select jsonb_object_agg(w.spelt, w.means)
    from (
      select distinct on (p.spelt) p.spelt, p.means
      from transfer_spelling p
      where p.subject = 'asset' and p.venue in (v.venue, '')
      order by p.spelt, p.venue desc
    ) w
  ) as wanted,
  c.unended_readings - 1 as unended_readings,
  c.read_at,
  c.list_at,
  c.list_moved_at,
  c.unreadable_since,
  coalesce(
    c.due_at,
    (
      select min(s.due_at)
      from transfer_source s
      join venue w using (venue_id)
      where s.published and s.kind = any ($3::text[]) and (w.ends_at <= n.at) is not true
    )
  ) as due_at
from now n
left join claimed c on true
left join venue v using (venue_id)
left join transfer_address a using (venue_id)
