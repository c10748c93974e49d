-- Windows to reconcile: a day of one venue, or one of the five-day periods by which it is rolled up. Only the part of a
-- window that has ended and still has its samples is reconciled.
--
-- $1 now; $2 a number from 0 to 1 (exclusive) that chooses one window; null: all. One row per window, none if nothing
-- can be reconciled: the venue; the window; its whole hours that still have their samples; and `sums`, the roll-ups
-- that are the sum of these hours: {rollups, from}. `sums` is empty if the window is not complete, or if other hours of
-- it were measured too.
with bounds as materialized (
  select
    -- roll-ups that are not rebuilt yet after a migration cannot be compared
    greatest(
      date_trunc('hour', $1::timestamptz - upkeep.raw_kept()) + interval '1 hour', (select upkeep.days_made_from())
    ) as from_at,
    -- ten minutes, because an hour whose last samples are still on their way would have to be compared twice
    date_trunc('hour', $1::timestamptz - interval '10 minutes') as to_at
),
there as materialized (
  select upkeep.backed('sample_minute', from_at, to_at) as hours from bounds
),
spans as materialized (
  select
    greatest(day, from_at) as from_at,
    least(day + interval '1 day', to_at) as to_at,
    case
      when day >= from_at and day + interval '1 day' <= to_at
        then array['component_day', 'venue_day', 'latency_day', 'venue_latency_day']
    end as rollups
  from bounds
  cross join generate_series(date_trunc('day', from_at), to_at, interval '1 day') as day
  -- they may be reversed: days are rebuilt up to the next midnight
  where greatest(day, from_at) < least(day + interval '1 day', to_at)
  union all
  select bucket, bucket + interval '5 days', array['usual_hour']
  from bounds
  cross join generate_series(date_bin('5 days', from_at, '2000-01-03'), to_at, interval '5 days') as bucket
  where bucket >= from_at and bucket + interval '5 days' <= to_at
),
possible as materialized (
  select s.from_at, s.to_at, s.rollups
  from spans s
  cross join there t
  where t.hours && tstzrange(s.from_at, s.to_at)
),
chosen as (
  select v.venue_id, v.venue, p.from_at, p.to_at, p.rollups
  from possible p
  cross join venue v
  order by p.from_at, p.to_at, v.venue_id
  offset coalesce(floor($2::double precision * (select count(*) from possible) * (select count(*) from venue)), 0)
  limit case when $2 is not null then 1 end
)
select
  c.venue_id,
  c.venue,
  c.from_at as "from",
  c.to_at as "to",
  array(
    select hour
    from generate_series(c.from_at, c.to_at - interval '1 hour', interval '1 hour') as hour
    where t.hours @> tstzrange(hour, hour + interval '1 hour')
    order by hour
  ) as hours,
  case
    when c.rollups is null or exists (
      select
      from sample_hour h
      join component k using (component_id)
      where k.venue_id = c.venue_id and h.hour >= c.from_at and h.hour < c.to_at
        and not t.hours @> tstzrange(h.hour, h.hour + interval '1 hour')
    )
    then '[]'
    else json_build_array(json_build_object('rollups', c.rollups, 'from', c.from_at))
  end as sums
from chosen c
cross join there t
order by c.from_at, c.to_at, c.venue_id
