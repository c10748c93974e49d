-- What `export` writes of days: those that start from $1 (inclusive) to $2 (exclusive), $3 of a venue or null, $4 and
-- $5 the key to continue after, or nulls. See export_samples.sql.
select
  d.day::text, d.venue, d.measured_minutes, d.down_minutes, d.degraded_minutes,
  d.rest_measured_minutes, d.rest_down_minutes, d.stream_measured_minutes, d.stream_down_minutes, d.uptime_pct,
  d.maintenance_minutes, d.maintenance_measured_minutes, d.maintenance_down_minutes, d.uptime_pct_without_maintenance
from analytics.days d
where d.day >= ($1::timestamptz + interval '1 day' - interval '1 microsecond')::date
  and d.day < ($2::timestamptz + interval '1 day' - interval '1 microsecond')::date
  and ($3::text is null or d.venue = $3)
  and ($4::date is null or (d.day, d.venue collate "C") > ($4, $5::text))
order by d.day, d.venue collate "C"
