-- What a venue's page of seven days is read from: sorting a week of raw samples for its percentiles took half a second. All three hold hours that
-- are over, and as long as raw samples are kept.

-- One hour of a venue's REST endpoints together, seen from one region. Exact, as it is from raw, and not rounded, since milliseconds are made of it.
create materialized view rest_hour
with (
  timescaledb.continuous,
  timescaledb.materialized_only = true,
  timescaledb.create_group_indexes = false,
  timescaledb.chunk_interval = '1 day'
) as
select
  time_bucket('1 hour', ts) as hour,
  venue_id,
  region_id,
  count(*)::int as samples,
  percentile_cont(0.5) within group (order by latency_us) as p50_us,
  percentile_cont(0.95) within group (order by latency_us) as p95_us
from sample
join component using (component_id)
where kind = 'rest' and good
group by 1, 2, 3
with no data;

create index rest_hour_venue on rest_hour (venue_id, region_id, hour desc);

-- One hour of one stream seen from one region.
create materialized view stream_hour
with (
  timescaledb.continuous,
  timescaledb.materialized_only = true,
  timescaledb.create_group_indexes = false,
  timescaledb.chunk_interval = '1 day'
) as
select
  time_bucket('1 hour', ts) as hour,
  component_id,
  region_id,
  count(*)::int as samples,
  count(*) filter (where good)::int as good,
  sum(messages) as messages,
  max(quiet_ms) as quiet_ms,
  sum(sequence_gaps) as sequence_gaps
from sample
join component using (component_id)
where kind = 'ws'
group by 1, 2, 3
with no data;

create index stream_hour_series on stream_hour (component_id, region_id, hour desc);

alter materialized view stream_hour set (
  timescaledb.compress, timescaledb.compress_segmentby = 'component_id, region_id', timescaledb.compress_orderby = 'hour'
);

-- How many good REST answers of an hour took so many whole milliseconds, and the least and the most of these in microseconds. Counts add up over hours
-- where percentiles do not, so a percentile of any hours is exact to the whole millisecond that is shown: what lies between two samples of
-- one millisecond is that millisecond, and of two neighbouring ones the most of the one and the least of the other are the samples
-- themselves.
create materialized view latency_hour
with (
  timescaledb.continuous,
  timescaledb.materialized_only = true,
  timescaledb.create_group_indexes = false,
  timescaledb.chunk_interval = '1 day'
) as
select
  time_bucket('1 hour', ts) as hour,
  component_id,
  region_id,
  -- as api.whole_ms rounds
  round(latency_us / 1000::double precision)::int as ms,
  count(*)::int as samples,
  min(latency_us) as least_us,
  max(latency_us) as most_us
from sample
join component using (component_id)
where kind = 'rest' and good and latency_us is not null
group by 1, 2, 3, 4
with no data;

create index latency_hour_series on latency_hour (component_id, region_id, hour desc);

alter materialized view latency_hour set (
  timescaledb.compress, timescaledb.compress_segmentby = 'component_id, region_id', timescaledb.compress_orderby = 'hour, ms'
);

-- as minutes are
select set_chunk_time_interval(
  format('%I.%I', materialization_hypertable_schema, materialization_hypertable_name)::regclass, interval '12 hours'
)
from timescaledb_information.continuous_aggregates
where view_schema = 'venuewatch' and view_name = 'latency_hour' and is_embedded();

-- Up to when the hours of all three are there, none missing before it: a page reads them up to then, and what is after it raw.
create table hours_kept (
  only_row boolean primary key default true check (only_row),
  kept_to  timestamptz not null
);

-- What was typical of the last seven days, as it was reckoned with the last refresh: of each venue, of each category (no venue) and of all (neither).
-- Counted anew for every board these were half of it, from 28,000 rows.
create table typical_week (
  -- the last of the seven, UTC
  today    date not null,
  venue_id smallint,
  category text,
  p50_ms   integer,
  unique nulls not distinct (venue_id, category)
);
