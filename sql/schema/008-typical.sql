-- What typical latencies are read from, and how incidents are found.

-- How often an hour's percentile was so many whole milliseconds, by venue: of all REST endpoints and regions, and of the
-- median and the 95th percentile beside each other (`is_p50`). Counts add up over buckets and venues where percentiles do
-- not, so a median over whole buckets is exact. Five days: of ten, the window's edges, which are read from sample_hour, would
-- cost as much as this saves; of one, there are nearly as many rows as hours.
--
-- A component never changes its venue or its kind (both are of its key), so nothing here goes stale by the registry.
create materialized view usual_hour
with (
  timescaledb.continuous,
  timescaledb.materialized_only = true,
  timescaledb.create_group_indexes = false,
  timescaledb.chunk_interval = '1 year'
) as
select
  time_bucket('5 days', hour) as bucket,
  venue_id,
  is_p50,
  -- as api.whole_ms rounds, which rounds those at the edges of a window
  round(case when is_p50 then p50_us else p95_us end / 1000::double precision)::int as ms,
  count(*)::int as hours
from sample_hour
join component using (component_id)
cross join lateral (values (true), (false)) as percentile (is_p50)
where kind = 'rest' and p50_us is not null
group by 1, 2, 3, 4
with no data;

create index usual_hour_venue on usual_hour (venue_id, bucket);

-- How often a minute's median was so many whole milliseconds, by UTC day and venue: latency_day of all REST endpoints and regions
-- together. The board, which reads a week of all venues, has a tenth of the rows to add up.
create materialized view venue_latency_day
with (
  timescaledb.continuous,
  timescaledb.materialized_only = true,
  timescaledb.create_group_indexes = false,
  timescaledb.chunk_interval = '1 year'
) as
select
  time_bucket('1 day', day) as day,
  venue_id,
  p50_ms,
  sum(minutes)::int as minutes
from latency_day
join component using (component_id)
where kind = 'rest'
group by 1, 2, 3
with no data;

create index venue_latency_day_venue on venue_latency_day (venue_id, day desc);

-- Slots are whole milliseconds, so cursors made of what is written lose nothing. What came by another way is cut, as it was
-- always shown.
alter table incident disable trigger refuse_rewriting;
update incident set started_at = date_trunc('milliseconds', started_at)
where started_at <> date_trunc('milliseconds', started_at);
alter table incident enable trigger refuse_rewriting;

alter table incident add constraint incident_started_at_whole_ms
  check (date_trunc('milliseconds', started_at at time zone 'UTC') = started_at at time zone 'UTC');

-- the board lists those that closed within a day
create index incident_closed on incident (closed_at) where closed_at is not null and retracted_at is null;

-- when one was taken back last is asked at every request
create index incident_retracted on incident (retracted_at) where retracted_at is not null;
