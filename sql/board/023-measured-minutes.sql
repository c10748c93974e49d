-- How many minutes were measured, and how many of them were bad: of venues per day, of components over a window. Uptime
-- (docs/methodology.md) is computed from nothing else.
--
-- Complete days are read from days (venue_day), the current day from its hours and the minutes after those: ninety days
-- of minutes are too many for one answer. Upkeep records how far hours and days are complete (added_up). Only published
-- minutes are read.
create view api.counted_to as
select
  k.today,
  k.published_to,
  a.days_from,
  d.days_to,
  greatest(d.days_to, least(a.hours_to, time_bucket('1 hour', k.published_to))) as hours_to
from api.clock k
cross join added_up a
cross join lateral (
  select least(a.days_to, time_bucket('1 day', k.published_to)) as days_to
) d;

-- The published minutes of venues in a window after the last kept hour, grouped by hour in the format of venue_hour
-- (schema 005).
--
-- A separate function, so that each call is planned for its window. Inside the board, whose plan is cached, it would
-- read from a hundred chunks. It has the rights of vw_definer (roles.sql).
create function api.open_venue_hours(from_at timestamptz, to_at timestamptz)
returns table (
  hour timestamptz,
  venue_id smallint,
  measured_minutes integer,
  down_minutes integer,
  degraded_minutes integer,
  rest_minutes integer,
  rest_down_minutes integer,
  stream_minutes integer,
  stream_down_minutes integer
)
language plpgsql stable security definer parallel safe
set search_path = venuewatch, pg_temp
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
begin
  return query
  select
    date_bin('1 hour', m.minute, 'epoch'),
    m.venue_id,
    count(*)::int,
    count(*) filter (where m.down)::int,
    count(*) filter (where m.bad and not m.down)::int,
    count(*) filter (where m.rest_components * 2 >= p.rest)::int,
    count(*) filter (where m.rest_down * 2 >= p.rest)::int,
    count(*) filter (where (m.components - m.rest_components) * 2 >= p.streams)::int,
    count(*) filter (where (m.components_down - m.rest_down) * 2 >= p.streams)::int
  from venue_minute m
  cross join lateral (
    select
      greatest(m.rest_published, 1) as rest,
      greatest(m.components_published - m.rest_published, 1) as streams
  ) p
  where m.minute >= from_at and m.minute < to_at
  group by 1, 2;
end;
$$;

-- The UTC days of venues in which anything was measured, with REST and streams separately.
create view api.venue_day as
with w as materialized (
  select * from api.counted_to
),
hours as (
  select h.*
  from venue_hour h
  where h.hour >= (select w.days_to from w) and h.hour < (select w.hours_to from w)
  union all
  select o.* from w cross join lateral api.open_venue_hours(w.hours_to, w.published_to) o
)
select
  d.venue_id, d.day, d.measured_minutes, d.down_minutes, d.degraded_minutes, d.rest_minutes, d.rest_down_minutes,
  d.stream_minutes, d.stream_down_minutes
from venue_day d
where d.day < (select w.days_to from w)
union all
select
  h.venue_id,
  time_bucket('1 day', h.hour),
  sum(h.measured_minutes)::int,
  sum(h.down_minutes)::int,
  sum(h.degraded_minutes)::int,
  sum(h.rest_minutes)::int,
  sum(h.rest_down_minutes)::int,
  sum(h.stream_minutes)::int,
  sum(h.stream_down_minutes)::int
from hours h
group by 1, 2;

-- The same for components.
create view api.component_day as
with w as materialized (
  select * from api.counted_to
),
hours as (
  select h.*
  from component_hour h
  where h.hour >= (select w.days_to from w) and h.hour < (select w.hours_to from w)
  union all
  select
    time_bucket('1 hour', m.minute),
    m.component_id,
    count(*)::int,
    count(*) filter (where m.down)::int,
    count(*) filter (where m.bad and not m.down)::int
  from component_minute m
  where m.minute >= (select w.hours_to from w) and m.minute < (select w.published_to from w) and m.measured
  group by 1, 2
)
select d.component_id, d.day, d.measured_minutes, d.down_minutes, d.degraded_minutes
from component_day d
where d.day < (select w.days_to from w)
union all
select
  h.component_id,
  time_bucket('1 day', h.hour),
  sum(h.measured_minutes)::int,
  sum(h.down_minutes)::int,
  sum(h.degraded_minutes)::int
from hours h
group by 1, 2;
