-- On the embedded database, minutes of half a day made short batches: 720 rows, where up to a thousand fit one. Sixteen hours are 960, and a mean venue's
-- hundred days take 28.6 MB instead of 30.2; of whole days too much would lie uncompressed. Chunks of latency_hour stay at half a day: they are dropped after
-- nine days, and have their thousand rows in that time. What there is stays in the chunks that it has.
select set_chunk_time_interval(
  format('%I.%I', materialization_hypertable_schema, materialization_hypertable_name)::regclass, interval '16 hours'
)
from timescaledb_information.continuous_aggregates
where view_schema = 'venuewatch' and view_name = 'sample_minute' and is_embedded();
