-- Continuous aggregates from sample upwards. A percentile is exact at its level, because it is computed from raw
-- samples there; percentiles are never combined. Core refreshes them in order (upkeep.sql), so they are
-- materialized only: a reader pays nothing for freshness, and sees the same on both kinds of database.
-- Chunks are of a size that a reader of ninety days plans few of them (0.3 ms each), and of a day where they are
-- compressed and dropped.

-- One minute of one component seen from one region.
create materialized view sample_minute
with (
  timescaledb.continuous,
  timescaledb.materialized_only = true,
  timescaledb.create_group_indexes = false,
  timescaledb.chunk_interval = '1 day'
) as
select
  time_bucket('1 minute', ts) as minute,
  component_id,
  region_id,
  count(*)::int as samples,
  count(*) filter (where good)::int as good,
  -- latency of good answers: a quick refusal must not make a venue look fast
  round(percentile_cont(0.5) within group (order by latency_us) filter (where good))::int as p50_us,
  round(percentile_cont(0.95) within group (order by latency_us) filter (where good))::int as p95_us,
  max(head) as head,
  sum(messages)::int as messages,
  max(quiet_ms) as quiet_ms,
  max(event_age_ms) as event_age_ms,
  count(*) filter (where fault = 'dns')::int as dns,
  count(*) filter (where fault = 'connect')::int as connect,
  count(*) filter (where fault = 'tls')::int as tls,
  count(*) filter (where fault = 'timeout')::int as timeout,
  count(*) filter (where fault = 'http')::int as http,
  count(*) filter (where fault = 'blocked')::int as blocked,
  count(*) filter (where fault = 'limited')::int as limited,
  count(*) filter (where fault = 'halted')::int as halted,
  count(*) filter (where fault = 'body')::int as body,
  count(*) filter (where fault = 'handshake')::int as handshake,
  count(*) filter (where fault = 'closed')::int as closed,
  count(*) filter (where fault = 'stall')::int as stall
from sample
group by 1, 2, 3
with no data;

create index sample_minute_series on sample_minute (component_id, region_id, minute desc);
create index sample_minute_minute on sample_minute (minute);

-- One hour of one component seen from one region: from raw, so that its percentiles are exact too.
create materialized view sample_hour
with (
  timescaledb.continuous,
  timescaledb.materialized_only = true,
  timescaledb.create_group_indexes = false,
  timescaledb.chunk_interval = '30 days'
) as
select
  time_bucket('1 hour', ts) as hour,
  component_id,
  region_id,
  count(*)::int as samples,
  count(*) filter (where good)::int as good,
  round(percentile_cont(0.5) within group (order by latency_us) filter (where good))::int as p50_us,
  round(percentile_cont(0.95) within group (order by latency_us) filter (where good))::int as p95_us
from sample
group by 1, 2, 3
with no data;

create index sample_hour_series on sample_hour (component_id, region_id, hour desc);
create index sample_hour_hour on sample_hour (hour);

-- One minute of one component, by the votes of the regions that measured it.
-- A region votes down when fewer than half of its samples were good, degraded when at least a fifth were bad.
create materialized view component_minute
with (
  timescaledb.continuous,
  timescaledb.materialized_only = true,
  timescaledb.create_group_indexes = false,
  timescaledb.chunk_interval = '1 day'
) as
select
  time_bucket('1 minute', minute) as minute,
  component_id,
  count(*)::int as regions,
  count(*) filter (where good * 2 < samples)::int as regions_down,
  count(*) filter (where (samples - good) * 5 >= samples)::int as regions_bad,
  -- a simple majority of the regions that measured it
  count(*) filter (where good * 2 < samples) * 2 > count(*) as down,
  count(*) filter (where (samples - good) * 5 >= samples) * 2 > count(*) as bad
from sample_minute
group by 1, 2
with no data;

create index component_minute_series on component_minute (component_id, minute desc);
create index component_minute_minute on component_minute (minute);

-- One minute of one venue: down when at least half of its measured components are, bad when any is.
create materialized view venue_minute
with (
  timescaledb.continuous,
  timescaledb.materialized_only = true,
  timescaledb.create_group_indexes = false,
  timescaledb.chunk_interval = '1 day'
) as
select
  time_bucket('1 minute', minute) as minute,
  venue_id,
  count(*)::int as components,
  count(*) filter (where down)::int as components_down,
  count(*) filter (where bad)::int as components_bad,
  count(*) filter (where down) * 2 >= count(*) as down,
  count(*) filter (where bad) > 0 as bad
from component_minute
join component using (component_id)
group by 1, 2
with no data;

create index venue_minute_series on venue_minute (venue_id, minute desc);
create index venue_minute_minute on venue_minute (minute);

-- One UTC day of one venue, in minutes. A day that nobody measured has no row.
create materialized view venue_day
with (
  timescaledb.continuous,
  timescaledb.materialized_only = true,
  timescaledb.create_group_indexes = false,
  timescaledb.chunk_interval = '1 year'
) as
select
  time_bucket('1 day', minute) as day,
  venue_id,
  count(*)::int as measured_minutes,
  count(*) filter (where down)::int as down_minutes,
  count(*) filter (where bad and not down)::int as degraded_minutes
from venue_minute
group by 1, 2
with no data;

create index venue_day_series on venue_day (venue_id, day desc);

-- How often a minute's median was so many whole milliseconds, by UTC day. Counts add up over days, components and regions
-- where percentiles do not, so a median of per-minute medians over any window is exact. A series has some 25 rows a
-- day; with the 95th percentile beside the median it had 325, and the board took ten times as long.
create materialized view latency_day
with (
  timescaledb.continuous,
  timescaledb.materialized_only = true,
  timescaledb.create_group_indexes = false,
  timescaledb.chunk_interval = '1 year'
) as
select
  time_bucket('1 day', minute) as day,
  component_id,
  region_id,
  round(p50_us / 1000.0)::int as p50_ms,
  count(*)::int as minutes
from sample_minute
where p50_us is not null
group by 1, 2, 3, 4
with no data;

create index latency_day_component on latency_day (component_id, day desc);
create index latency_day_day on latency_day (day);

-- Only the levels by minute are large enough to be worth compressing.
alter materialized view sample_minute set (
  timescaledb.compress, timescaledb.compress_segmentby = 'component_id, region_id'
);
alter materialized view component_minute set (timescaledb.compress, timescaledb.compress_segmentby = 'component_id');
alter materialized view venue_minute set (timescaledb.compress, timescaledb.compress_segmentby = 'venue_id');
