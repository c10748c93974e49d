-- How wide chunks of samples are from now on. $1 true: an hour; false: as 002-sample.sql has it.
--
-- An embedded database drops its samples by the hour, a server by the day. Were the hours left of a day put into a
-- chunk of that day, upkeep would take the whole day for backed by samples, and could roll up its beginning as empty.
select set_chunk_time_interval(
  'venuewatch.sample',
  case when $1 or is_embedded() then interval '1 hour' else interval '1 day' end
)
