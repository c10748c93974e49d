-- Chunks are compressed when they are over, so what lies uncompressed goes by their width: of hours and of latencies by day thirty days, at twenty
-- times and forty times the size. From now on ten. Shorter ones would save little (a venue's hundred days 0.5 MB with five), would take half as much
-- again for ever, since a series has fewer rows in each, and a reader plans every chunk there is.
-- What there is stays in the chunks that it has.
select set_chunk_time_interval(
  format('%I.%I', materialization_hypertable_schema, materialization_hypertable_name)::regclass, interval '10 days'
)
from timescaledb_information.continuous_aggregates
where view_schema = 'venuewatch' and view_name in ('sample_hour', 'latency_day');

-- On the embedded database half a day of minutes is as much as is to lie uncompressed: of whole days its directory grew by a quarter more until
-- two hours after midnight. A server has the room, and the fewer chunks. Of components and venues there are a quarter as many rows and less, for which
-- what each chunk takes of itself counts.
select set_chunk_time_interval(
  format('%I.%I', materialization_hypertable_schema, materialization_hypertable_name)::regclass, interval '12 hours'
)
from timescaledb_information.continuous_aggregates
where view_schema = 'venuewatch' and view_name = 'sample_minute' and is_embedded();

-- TimescaleDB makes an index on the time itself, descending, which serves as well. Others wait until all five are gone, so each is waited for briefly.
set local lock_timeout = '100ms';
drop index _timescaledb_internal.sample_minute_minute;
drop index _timescaledb_internal.sample_hour_hour;
drop index _timescaledb_internal.component_minute_minute;
drop index _timescaledb_internal.venue_minute_minute;
drop index _timescaledb_internal.latency_day_day;
