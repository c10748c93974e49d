-- What is kept for ever by the hour and by the day is worth compressing too: an hour of a series takes 125 bytes with its indexes, and
-- 5 compressed; a year of 387 series is 420 MB, or 17. Upkeep does so once nothing can come late for them any more.
alter materialized view sample_hour set (
  timescaledb.compress, timescaledb.compress_segmentby = 'component_id, region_id'
);
alter materialized view latency_day set (
  timescaledb.compress, timescaledb.compress_segmentby = 'component_id, region_id', timescaledb.compress_orderby = 'day desc, p50_ms'
);

-- From now on: a chunk of a year would lie as it is for a year. What there is stays in the chunks that it has.
select set_chunk_time_interval(
  format('%I.%I', materialization_hypertable_schema, materialization_hypertable_name)::regclass, interval '30 days'
)
from timescaledb_information.continuous_aggregates
where view_schema = 'venuewatch' and view_name = 'latency_day';
