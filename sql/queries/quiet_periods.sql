-- How long was one stream silent, as one region heard it?
--
-- $1 venue; $2 component; $3 region; $4 from; $5 to (exclusive); $6 the stream's cadence in milliseconds.
-- A row for each length of silence that was the longest of some slot, shortest first: how many slots it was the longest
-- of, how many quiet periods were as long, both outside trouble, and how many such periods trouble left out. Rows of
-- windows that follow each other add up.
--
-- A sample holds the longest silence that touches its slot. One that still runs when the slot ends is in the next slot
-- again, longer: of a silence of two minutes twelve slots tell. So a slot's silence is counted only where the next slot
-- has none that is longer: had it still been running, it would have grown. Each quiet period is thus a silence that was
-- heard from its beginning to its end, and is counted once. (Equal ones are two: the same silence could be so only by
-- ending within the millisecond in which the slot does.) What is passed over are silences that a longer one follows at
-- once; they are mostly short ones, so quantiles come out a little high, and thresholds on the patient side.
with series as (
  select c.component_id, c.venue_id, g.region_id, $6 * interval '1 ms' as slot
  from component c
  join venue v using (venue_id)
  cross join region g
  where v.venue = $1 and c.component = $2 and g.region = $3
),
-- Neither a venue's stalls nor a region's own trouble are to teach how quiet a stream usually is. A retracted incident
-- was no stall, and teaches.
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
    -- the last slot of the window has a next one too
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
    -- where the next slot was not measured, nobody knows whether the silence had ended
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
  (count(*) filter (where j.is_period and j.in_trouble))::int as "leftOut"
from judged j
group by j.quiet_ms
order by j.quiet_ms
