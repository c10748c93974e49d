-- On the embedded database, minutes of half a day made two short batches a day of each series: 720 rows, of a thousand that fit one. A venue's hundred
-- days took 30.2 MB so, and take 28 with sixteen hours. Of whole days its directory would grow by 350 MB until two hours after midnight.
-- What there is stays in the chunks that it has.
select set_chunk_time_interval(
  format('%I.%I', materialization_hypertable_schema, materialization_hypertable_name)::regclass, interval '16 hours'
)
from timescaledb_information.continuous_aggregates
where view_schema = 'venuewatch' and view_name = 'sample_minute' and is_embedded();
