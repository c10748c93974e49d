-- How many minutes were measured, and how many of them were bad: of venues per day, of components over a window. Uptime
-- (docs/methodology.md) is computed from nothing else.
--
-- Complete days are read from days (venue_day), the current day from its hours and the minutes after those: ninety days
-- of minutes are too many for one answer. Upkeep records how far hours and days are complete (rollups_made). Only
-- published minutes are read. Days before `made_from` are as an earlier release counted them.
create view api.counted_to as
select
  k.today,
  k.published_to,
  c.made_from,
  d.days_to,
  greatest(d.days_to, least(m.hours_to, time_bucket('1 hour', k.published_to))) as hours_to
from api.clock k
cross join rollups_made m
cross join lateral (
  select time_bucket('1 day', m.made_from + interval '1 day' - interval '1 microsecond') as made_from
) c
cross join lateral (
  select least(m.days_to, time_bucket('1 day', k.published_to)) as days_to
) d;

-- The published minutes of venues in a window after the last kept hour, grouped by hour in the format of venue_hour
-- (schema 017).
--
-- A separate function, so that each call is planned for its window. Inside the board, whose plan is cached, it would
-- read from a hundred chunks; their start-up took a sixth of the board's time (18 ms, then 15). It has the rights of
-- vw_definer (roles.sql). The squares are counted by half hours, not as bits, which took the board a millisecond
-- longer.
create function api.open_venue_hours(from_at timestamptz, to_at timestamptz)
returns table (
  hour timestamptz,
  venue_id smallint,
  measured_minutes integer,
  down_minutes integer,
  degraded_minutes integer,
  half_hour_squares integer,
  rest_minutes integer,
  rest_down_minutes integer,
  rest_half_hour_squares integer,
  stream_minutes integer,
  stream_down_minutes integer,
  stream_half_hour_squares integer
)
language plpgsql stable security definer parallel safe
set search_path = venuewatch, pg_temp
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
begin
  return query
  select
    m.hour,
    m.venue_id,
    count(*)::int,
    count(*) filter (where m.down)::int,
    count(*) filter (where m.bad and not m.down)::int,
    (count(*) filter (where m.first_half) ^ 2 + count(*) filter (where not m.first_half) ^ 2)::int,
    count(*) filter (where m.has_rest)::int,
    count(*) filter (where m.rest_down * 2 >= m.rest_size)::int,
    (
      count(*) filter (where m.has_rest and m.first_half) ^ 2
        + count(*) filter (where m.has_rest and not m.first_half) ^ 2
    )::int,
    count(*) filter (where m.has_streams)::int,
    count(*) filter (where (m.components_down - m.rest_down) * 2 >= m.streams_size)::int,
    (
      count(*) filter (where m.has_streams and m.first_half) ^ 2
        + count(*) filter (where m.has_streams and not m.first_half) ^ 2
    )::int
  from (
    select
      v.*,
      p.hour,
      v.minute < p.hour + interval '30 minutes' as first_half,
      p.rest_size,
      p.streams_size,
      v.rest_components * 2 >= p.rest_size as has_rest,
      (v.components - v.rest_components) * 2 >= p.streams_size as has_streams
    from venue_minute v
    cross join lateral (
      select
        date_bin('1 hour', v.minute, 'epoch') as hour,
        greatest(v.rest_published, 1) as rest_size,
        greatest(v.components_published - v.rest_published, 1) as streams_size
    ) p
    where v.minute >= from_at and v.minute < to_at
  ) m
  group by m.hour, m.venue_id;
end;
$$;

-- The UTC days of venues in which anything was measured, with REST and streams separately. The squares describe how the
-- measured minutes are distributed, for api.uptime_bounds.
create view api.venue_day as
with w as materialized (
  select * from api.counted_to
),
hours as (
  select h.*
  from venue_hour h
  where h.hour >= (select greatest(w.made_from, w.days_to) from w) and h.hour < (select w.hours_to from w)
  union all
  select o.* from w cross join lateral api.open_venue_hours(greatest(w.made_from, w.hours_to), w.published_to) o
),
three_hours as (
  select
    time_bucket('1 day', h.hour) as day,
    h.venue_id,
    sum(h.measured_minutes)::int as measured_minutes,
    sum(h.down_minutes)::int as down_minutes,
    sum(h.degraded_minutes)::int as degraded_minutes,
    sum(h.half_hour_squares)::int as half_hour_squares,
    sum(h.rest_minutes)::int as rest_minutes,
    sum(h.rest_down_minutes)::int as rest_down_minutes,
    sum(h.rest_half_hour_squares)::int as rest_half_hour_squares,
    sum(h.stream_minutes)::int as stream_minutes,
    sum(h.stream_down_minutes)::int as stream_down_minutes,
    sum(h.stream_half_hour_squares)::int as stream_half_hour_squares
  from hours h
  group by 1, 2, time_bucket('3 hours', h.hour)
)
select
  d.venue_id, d.day, d.measured_minutes, d.down_minutes, d.degraded_minutes, d.half_hour_squares, d.three_hour_squares,
  d.rest_minutes, d.rest_down_minutes, d.rest_half_hour_squares, d.rest_three_hour_squares,
  d.stream_minutes, d.stream_down_minutes, d.stream_half_hour_squares, d.stream_three_hour_squares
from venue_day d
where d.day >= (select w.made_from from w) and d.day < (select w.days_to from w)
union all
select
  d.venue_id, d.day, d.measured_minutes, d.down_minutes, d.degraded_minutes, d.half_hour_squares, d.three_hour_squares,
  d.rest_minutes, d.rest_down_minutes, d.rest_half_hour_squares, d.rest_three_hour_squares,
  d.stream_minutes, d.stream_down_minutes, d.stream_half_hour_squares, d.stream_three_hour_squares
from venue_day_former d
where d.day < (select least(w.made_from, w.published_to) from w)
union all
select
  h.venue_id,
  h.day,
  sum(h.measured_minutes)::int,
  sum(h.down_minutes)::int,
  sum(h.degraded_minutes)::int,
  sum(h.half_hour_squares)::int,
  sum(h.measured_minutes * h.measured_minutes)::int,
  sum(h.rest_minutes)::int,
  sum(h.rest_down_minutes)::int,
  sum(h.rest_half_hour_squares)::int,
  sum(h.rest_minutes * h.rest_minutes)::int,
  sum(h.stream_minutes)::int,
  sum(h.stream_down_minutes)::int,
  sum(h.stream_half_hour_squares)::int,
  sum(h.stream_minutes * h.stream_minutes)::int
from three_hours h
group by h.day, h.venue_id;

-- The same for components.
create view api.component_day as
with w as materialized (
  select * from api.counted_to
),
hours as (
  select h.*
  from component_hour h
  where h.hour >= (select greatest(w.made_from, w.days_to) from w) and h.hour < (select w.hours_to from w)
  union all
  select
    time_bucket('1 hour', m.minute),
    m.component_id,
    count(*)::int,
    count(*) filter (where m.down)::int,
    count(*) filter (where m.bad and not m.down)::int,
    (
      (count(*) filter (where time_bucket('30 minutes', m.minute) = time_bucket('1 hour', m.minute))) ^ 2
      + (count(*) filter (where time_bucket('30 minutes', m.minute) > time_bucket('1 hour', m.minute))) ^ 2
    )::int
  from component_minute m
  where m.minute >= (select greatest(w.made_from, w.hours_to) from w) and m.minute < (select w.published_to from w)
    and m.measured
  group by 1, 2
),
three_hours as (
  select
    time_bucket('1 day', h.hour) as day,
    h.component_id,
    sum(h.measured_minutes)::int as measured_minutes,
    sum(h.down_minutes)::int as down_minutes,
    sum(h.degraded_minutes)::int as degraded_minutes,
    sum(h.half_hour_squares)::int as half_hour_squares
  from hours h
  group by 1, 2, time_bucket('3 hours', h.hour)
)
select
  d.component_id, d.day, d.measured_minutes, d.down_minutes, d.degraded_minutes, d.half_hour_squares,
  d.three_hour_squares
from component_day d
where d.day >= (select w.made_from from w) and d.day < (select w.days_to from w)
union all
select
  d.component_id, d.day, d.measured_minutes, d.down_minutes, d.degraded_minutes, d.half_hour_squares,
  d.three_hour_squares
from component_day_former d
where d.day < (select least(w.made_from, w.published_to) from w)
union all
select
  h.component_id,
  h.day,
  sum(h.measured_minutes)::int,
  sum(h.down_minutes)::int,
  sum(h.degraded_minutes)::int,
  sum(h.half_hour_squares)::int,
  sum(h.measured_minutes * h.measured_minutes)::int
from three_hours h
group by h.component_id, h.day;
