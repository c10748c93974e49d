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

-- How many minutes of announced maintenance there were, and how venues did in them: what an uptime without maintenance
-- leaves out. The main uptime counts these minutes like all others.

-- The first whole minute that begins at an instant or after it.
create function api.minute_from(at timestamptz) returns timestamptz
language sql immutable parallel safe
return time_bucket('1 minute', at + interval '59.999999 seconds');

-- From the minutes themselves, by UTC day: of each venue (no component) and of each of its components. A minute belongs
-- to maintenance if it begins within a window that counts. `minutes`: as many should have been measured.
--
-- A separate function, planned for its span, as api.open_venue_hours is.
create function api.maintenance_counts(counted_from timestamptz, counted_to timestamptz)
returns table (
  venue_id smallint,
  component_id integer,
  day timestamptz,
  minutes integer,
  measured_minutes integer,
  down_minutes integer
)
language plpgsql stable security definer parallel safe
set search_path = venuewatch, pg_temp
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
begin
  -- the usual case
  if not exists (
    select
    from api.maintenance_window w
    where w.from_at < counted_to and w.over_at > counted_from
      -- for the index: no window is longer
      and w.from_at > counted_from - api.longest_maintenance()
  ) then
    return;
  end if;
  return query
  with covered as materialized (
    select
      w.venue_id,
      range_agg(tstzrange(api.minute_from(w.from_at), api.minute_from(w.over_at)))
        * tstzmultirange(tstzrange(counted_from, counted_to)) as minutes
    from api.maintenance_window w
    where w.from_at < counted_to and w.over_at > counted_from
      and w.from_at > counted_from - api.longest_maintenance()
    group by w.venue_id
  ),
  pieces as materialized (
    select c.venue_id, d.day, lower(p.piece) as from_at, upper(p.piece) as to_at
    from covered c
    cross join lateral generate_series(
      date_bin('1 day', lower(c.minutes), 'epoch'), upper(c.minutes), interval '24 hours'
    ) as d (day)
    cross join lateral unnest(
      c.minutes * tstzmultirange(tstzrange(d.day, d.day + interval '24 hours'))
    ) as p (piece)
  ),
  watched as (
    select v.venue_id, null::integer as component_id, v.watched_from, v.unwatched from venue v
    union all
    select c.venue_id, c.component_id, c.watched_from, c.unwatched from component c
  ),
  scheduled as (
    select
      w.venue_id,
      w.component_id,
      p.day,
      sum(api.scheduled_minutes(w.watched_from, w.unwatched, p.from_at, p.to_at))::int as minutes
    from pieces p
    join watched w using (venue_id)
    group by w.venue_id, w.component_id, p.day
  ),
  measured as (
    select
      p.venue_id,
      null::integer as component_id,
      p.day,
      count(*)::int as minutes,
      count(*) filter (where m.down)::int as down
    from pieces p
    join venue_minute m on m.venue_id = p.venue_id and m.minute >= p.from_at and m.minute < p.to_at
    -- for the planner, which excludes chunks by these
    where m.minute >= counted_from and m.minute < counted_to
    group by p.venue_id, p.day
    union all
    select
      p.venue_id,
      c.component_id,
      p.day,
      count(*)::int,
      count(*) filter (where m.down)::int
    from pieces p
    join component c using (venue_id)
    join component_minute m on m.component_id = c.component_id and m.minute >= p.from_at and m.minute < p.to_at
    where m.minute >= counted_from and m.minute < counted_to and m.measured
    group by p.venue_id, c.component_id, p.day
  )
  select
    s.venue_id,
    s.component_id,
    s.day,
    -- a measured minute was scheduled, whatever the registry's dates say
    greatest(s.minutes, coalesce(m.minutes, 0)),
    coalesce(m.minutes, 0),
    coalesce(m.down, 0)
  from scheduled s
  left join measured m
    on m.venue_id = s.venue_id and m.component_id is not distinct from s.component_id and m.day = s.day
  where s.minutes > 0 or m.minutes > 0;
end;
$$;

-- The published ones: days that are over as upkeep added them up, the current one from its minutes.
create view api.maintenance_day as
select m.*
from maintenance_day m
where m.day < (select w.days_to from api.counted_to w)
union all
select c.*
from api.counted_to w
cross join lateral api.maintenance_counts(w.days_to, w.published_to) c;
