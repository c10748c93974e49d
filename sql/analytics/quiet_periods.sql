-- How long one stream was silent, as heard from one region.
--
-- $1 venue; $2 component; $3 region; $4 from; $5 to (exclusive); $6 the stream's cadence in milliseconds. One row per
-- length of silence that was the longest of some slot, shortest first: the number of slots in which it was the longest,
-- the number of quiet periods of that length, both outside trouble, the number of such periods excluded because of
-- trouble, and the first and last UTC day of those that count.
--
-- A sample holds the longest silence that overlaps its slot. A silence that continues after the slot is also in the
-- next slot, and longer: a silence of two minutes appears in twelve slots. So a slot's silence counts only if the next
-- slot has no longer one: if it had continued, it would have grown. Each quiet period is thus a silence that was heard
-- from beginning to end, and is counted once. (Two equal ones are two silences: one silence could appear twice with the
-- same length only if it ended within the same millisecond as the slot.) Silences that a longer one follows immediately
-- are missed; they are mostly short, so quantiles come out slightly high, and thresholds on the patient side.
with series as (
  select c.component_id, c.venue_id, g.region_id, $6 * interval '1 ms' as slot
  from component c
  join venue v using (venue_id)
  cross join region g
  where v.venue = $1 and c.component = $2 and g.region = $3
),
-- A venue's stalls and a region's own trouble must not count as usual silence. A retracted incident was no stall, so it
-- counts.
trouble as (
  select coalesce(range_agg(t.span), '{}') as spans
  from (
    select tstzrange(i.started_at, i.closed_at, '[]') as span
    from incident i
    join component c using (component_id)
    where c.venue_id = (select venue_id from series)
      and c.component in ($2, 'ws:conn')
      and i.retracted_at is null
    union all
    select tstzrange(p.started_at, p.ended_at, '[]')
    from impairment p
    where p.region_id = (select region_id from series)
  ) t
),
heard as (
  select
    s.ts,
    s.quiet_ms,
    lead(s.ts) over later as next_ts,
    lead(s.quiet_ms) over later as next_quiet_ms
  from sample s
  where s.component_id = (select component_id from series)
    and s.region_id = (select region_id from series)
    and s.ts >= $4::timestamptz
    -- the last slot of the window needs its next one too
    and s.ts < $5::timestamptz + $6 * interval '1 ms'
    and s.quiet_ms is not null
    -- a refused subscription is no silence
    and (s.fault is null or s.fault = 'stall')
  window later as (order by s.ts)
),
judged as (
  select
    h.ts,
    h.quiet_ms,
    -- if the next slot was not measured, we do not know whether the silence ended
    h.next_ts <= h.ts + e.slot and h.next_quiet_ms <= h.quiet_ms as is_period,
    -- it may last into the next slot, and a region may be a slot ahead of the quorum that started an incident
    t.spans && tstzrange(h.ts - e.slot - h.quiet_ms * interval '1 ms', h.ts + e.slot, '[]') as in_trouble
  from heard h
  cross join series e
  cross join trouble t
  where h.ts < $5::timestamptz
)
select
  j.quiet_ms as "quietMs",
  (count(*) filter (where not j.in_trouble))::int as slots,
  (count(*) filter (where j.is_period and not j.in_trouble))::int as periods,
  (count(*) filter (where j.is_period and j.in_trouble))::int as "leftOut",
  ((min(j.ts) filter (where j.is_period and not j.in_trouble)) at time zone 'UTC')::date::text as "firstDay",
  ((max(j.ts) filter (where j.is_period and not j.in_trouble)) at time zone 'UTC')::date::text as "lastDay"
from judged j
group by j.quiet_ms
order by j.quiet_ms
