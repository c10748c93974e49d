-- Claim the feed to read now: the one that is overdue the longest, if any; reserved for the caller for as long as
-- reading may take. Programs may have died of the answer if earlier readings did not end. With each such reading the
-- feed is reserved for four times as long, at most an hour, so that a hostile one does not end one core after the
-- other.
--
-- $1 now, or null: by this database's clock; $2 how long reading may take, milliseconds; $3 the kinds that the caller
-- can read, because another build may know more. Without feeds whose venues have ended. One row {at, feed_id, kind,
-- api, page, unended_readings, read_at, feed_at, unreadable_since, due_at}: if nothing is due, feed_id is null, and
-- due_at is when something will be; null if there are no feeds.
with now as materialized (
  -- whole milliseconds, so that the claimant can recognise its claim by this time
  select date_trunc('milliseconds', coalesce($1::timestamptz, clock_timestamp())) as at
),
claimed as (
  update feed s
  set due_at = n.at + least($2::int * power(4, s.unended_readings), 3600000) * interval '1 millisecond',
    unended_readings = least(s.unended_readings + 1, 10)
  from now n
  where s.feed_id = (
    select d.feed_id
    from feed d
    where d.published and d.kind = any ($3::text[]) and not api.feed_has_ended(d.feed_id)
      -- nothing is postponed by more than an hour: a later time comes from a wrong clock
      and (d.due_at <= (select at from now) or d.due_at > (select at from now) + interval '90 minutes')
    order by d.due_at, d.feed_id
    limit 1
    for update skip locked
  )
  returning s.*
),
runs as (
  select r.* from feed_poll r join claimed using (feed_id)
)
select
  n.at,
  c.feed_id,
  c.kind,
  coalesce(a.address, c.api) as api,
  c.page,
  c.unended_readings - 1 as unended_readings,
  (select max(r.until_at) from runs r where r.problem is null) as read_at,
  -- If the feed has been unreadable for a day, its time is believed whatever it is: one wrong time would make all later
  -- readings go back in time.
  case when w.unreadable_since > n.at - interval '1 day' is not false then c.feed_at end as feed_at,
  w.unreadable_since,
  coalesce(
    c.due_at,
    (
      select min(s.due_at)
      from feed s
      where s.published and s.kind = any ($3::text[]) and not api.feed_has_ended(s.feed_id)
    )
  ) as due_at
from now n
left join claimed c on true
left join (
  select r.from_at as unreadable_since
  from (select * from runs order by from_at desc limit 1) r
  where r.problem is not null
) w on true
left join feed_address a using (feed_id)
