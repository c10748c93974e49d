-- What can be compared with the roll-ups: of each venue the whole hours whose samples exist, and the days that are
-- added up from minutes. Each hour comes before its day. Rows {venue_id, venue, level (hour or day), from}.
--
-- $1 now; $2 true: only what is lost when chunks of samples that expire by now are dropped.
with expiring as (
  select tstzrange(min(c.range_start), max(c.range_end)) as whole
  from show_chunks('sample', older_than => $1::timestamptz - upkeep.raw_kept()) as chunk
  join timescaledb_information.chunks c
    on format('%I.%I', c.chunk_schema, c.chunk_name)::regclass = chunk
),
bounds as materialized (
  select
    case
      when $2::boolean then lower(e.whole)
      else date_trunc('hour', $1::timestamptz - upkeep.raw_kept())
    end as from_at,
    -- ten minutes, because an hour whose last samples are still on their way would have to be compared twice
    case when $2 then upper(e.whole) else date_trunc('hour', $1::timestamptz - interval '10 minutes') end as to_at
  from expiring e
),
hours as materialized (
  select hour
  from bounds b
  cross join unnest(upkeep.backed('sample_minute', b.from_at, b.to_at)) as span
  cross join generate_series(
    date_bin('1 hour', lower(span) + interval '1 hour' - interval '1 microsecond', 'epoch'),
    upper(span) - interval '1 hour',
    interval '1 hour'
  ) as hour
),
days as (
  select day
  from bounds b
  cross join added_up a
  cross join generate_series(
    greatest(date_bin('1 day', b.from_at, 'epoch'), a.days_from), b.to_at - interval '24 hours', interval '24 hours'
  ) as day
  where day + interval '24 hours' > b.from_at and day < a.days_to
),
spans as (
  select 'hour' as level, hour as from_at, hour + interval '1 hour' as to_at from hours
  union all
  select 'day', day, day + interval '24 hours' from days
)
select v.venue_id, v.venue, s.level, s.from_at as "from"
from spans s
cross join venue v
order by v.venue_id, s.to_at, s.level desc
