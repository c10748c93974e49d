-- Set the width of new chunks of samples. $1 true: an hour; false: as in schema/003-samples.sql.
--
-- An embedded database drops its samples by the hour, a server by the day. If the remaining hours of a day were put
-- into a chunk of a day, upkeep would consider the whole day backed by samples, and could roll up its beginning as
-- empty.
select set_chunk_time_interval(
  'venuewatch.sample',
  case when $1 or is_embedded() then interval '1 hour' else interval '1 day' end
)
