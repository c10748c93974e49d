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
    count(*) filter (where m.has_rest and m.rest_down * 2 >= m.rest_components)::int,
    (
      count(*) filter (where m.has_rest and m.first_half) ^ 2
        + count(*) filter (where m.has_rest and not m.first_half) ^ 2
    )::int,
    count(*) filter (where m.has_streams)::int,
    count(*) filter (
      where m.has_streams and (m.components_down - m.rest_down) * 2 >= m.components - m.rest_components
    )::int,
    (
      count(*) filter (where m.has_streams and m.first_half) ^ 2
        + count(*) filter (where m.has_streams and not m.first_half) ^ 2
    )::int
  from (
    select
      v.*,
      h.hour,
      v.minute < h.hour + interval '30 minutes' as first_half,
      v.rest_components > 0 as has_rest,
      v.components > v.rest_components as has_streams
    from venue_minute v
    cross join lateral (select date_bin('1 hour', v.minute, 'epoch') as hour) h
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

-- Number of minutes between two instants in which something was not in the registry. Separate, so that its caller can
-- be inlined.
create function api.unwatched_minutes(unwatched tstzmultirange, from_at timestamptz, to_at timestamptz) returns integer
language sql immutable parallel safe
return (
  select floor(coalesce(sum(date_part('epoch', upper(gap) - lower(gap))), 0) / 60)::int
  from unnest(unwatched * tstzmultirange(tstzrange(from_at, greatest(from_at, to_at)))) as gap
);

-- Number of minutes that should have been measured between two instants, for something that was added at watched_from
-- and is missing from the registry in `unwatched`.
create function api.scheduled_minutes(
  watched_from timestamptz, unwatched tstzmultirange, from_at timestamptz, to_at timestamptz
)
returns integer
language sql immutable parallel safe
return case
  -- the usual case
  when watched_from <= from_at and to_at - from_at = interval '24 hours' and isempty(unwatched) then 1440
  else ceil(greatest(0, date_part('epoch', to_at - greatest(from_at, watched_from))) / 60)::int
    - case
      when isempty(unwatched) then 0
      else api.unwatched_minutes(unwatched, greatest(from_at, watched_from), to_at)
    end
end;

-- The sum of the squares of its scheduled minutes, day by day.
create function api.scheduled_squares(
  watched_from timestamptz, unwatched tstzmultirange, from_at timestamptz, to_at timestamptz
)
returns bigint
language sql immutable parallel safe
return case
  when isempty(unwatched) then (
    select case
      when to_at <= d.second_day then m.first_day ^ 2
      else m.first_day ^ 2 + 1440::bigint ^ 2 * extract(epoch from d.last_day - d.second_day) / 86400 + m.last_day ^ 2
    end::bigint
    from (
      select
        time_bucket('1 day', greatest(from_at, watched_from)) + interval '24 hours' as second_day,
        time_bucket('1 day', to_at) as last_day
    ) d
    cross join lateral (
      select
        api.scheduled_minutes(watched_from, unwatched, from_at, least(to_at, d.second_day)) as first_day,
        api.scheduled_minutes(watched_from, unwatched, d.last_day, to_at) as last_day
    ) m
  )
  else (
    select coalesce(
      sum(
        api.scheduled_minutes(
          watched_from, unwatched, greatest(from_at, d.day), least(to_at, d.day + interval '24 hours')
        ) ^ 2
      ),
      0
    )::bigint
    from generate_series(time_bucket('1 day', from_at), to_at, interval '24 hours') as d (day)
  )
end;

-- Minimum share of measured minutes. Below it the unmeasured rest is too uncertain, and no uptime is shown. Published
-- by /v1/thresholds.
create function api.uptime_min_coverage() returns double precision language sql immutable parallel safe return 0.5;

-- A share in per cent, rounded down or up to three digits; null if the whole is 0. In integers: numeric division took
-- most of the board's time.
create function api.pct_down(part bigint, whole bigint) returns numeric
language sql immutable parallel safe
return 100000 * part / nullif(whole, 0) * 0.001;

create function api.pct_up(part bigint, whole bigint) returns numeric
language sql immutable parallel safe
return (100000 * part + whole - 1) / nullif(whole, 0) * 0.001;

-- Availability, never rounded up; null if too little was measured.
create function api.uptime_pct(measured bigint, down bigint, scheduled bigint) returns numeric
language sql immutable parallel safe
return case when measured >= scheduled * api.uptime_min_coverage() then api.pct_down(measured - down, measured) end;

-- The counts of an uptime, for anything and any period, as the sum of its days: scheduled, measured and down minutes,
-- and the inputs of the bounds.
create type api.counted as (
  scheduled_minutes  bigint,
  measured_minutes   bigint,
  down_minutes       bigint,
  half_hour_squares  bigint,
  three_hour_squares bigint,
  day_squares        bigint,
  day_products       bigint,
  scheduled_squares  bigint
);

-- An uptime with its basis: the share that was measured, and the bounds of the true value.
create type api.uptime_basis as (
  "uptimePct"        numeric,
  "measuredMinutes"  bigint,
  "scheduledMinutes" bigint,
  "coveragePct"      numeric,
  "uptimePctLow"     numeric,
  "uptimePctHigh"    numeric
);

-- plpgsql, because its plan is cached.
create function api.uptime_basis(c api.counted) returns api.uptime_basis
language plpgsql immutable parallel safe
as $$
declare
  b api.bounds := api.uptime_bounds(
    c.scheduled_minutes, c.measured_minutes, c.down_minutes, c.half_hour_squares, c.three_hour_squares, c.day_squares,
    c.day_products,
    c.scheduled_squares
  );
begin
  return row(
    api.uptime_pct(c.measured_minutes, c.down_minutes, c.scheduled_minutes),
    coalesce(c.measured_minutes, 0),
    c.scheduled_minutes,
    api.pct_down(coalesce(c.measured_minutes, 0), c.scheduled_minutes),
    b.low,
    b.high
  )::api.uptime_basis;
end;
$$;

-- The same for a fleet, from those of its venues that have an uptime; their bounds are independent of each other
-- (api.fleet_bounds).
create type api.fleet_part as (
  scheduled double precision,
  up        double precision,
  below     double precision,
  above     double precision
);

create function api.fleet_part(c api.counted, u api.uptime_basis) returns api.fleet_part
language sql immutable parallel safe
return case when c.measured_minutes > 0 then (
  select row(
    c.scheduled_minutes,
    c.scheduled_minutes * p.pct,
    (c.scheduled_minutes * case when u."uptimePctLow" < u."uptimePctHigh" then p.pct - u."uptimePctLow" else 0 end) ^ 2,
    (c.scheduled_minutes * case when u."uptimePctLow" < u."uptimePctHigh" then u."uptimePctHigh" - p.pct else 0 end) ^ 2
  )::api.fleet_part
  from (select 100 * (1 - c.down_minutes / c.measured_minutes::double precision) as pct) p
) end;

create function api.fleet_basis(scheduled bigint, measured bigint, down bigint, part api.fleet_part)
returns api.uptime_basis
language sql immutable parallel safe
return (
  select row(
    api.uptime_pct(measured, down, scheduled),
    coalesce(measured, 0),
    coalesce(scheduled, 0),
    api.pct_down(coalesce(measured, 0), scheduled),
    b.low,
    b.high
  )::api.uptime_basis
  from api.fleet_bounds(
    api.pct_down(measured - down, measured), part.scheduled::bigint, part.up, part.below, part.above
  ) b
);

-- The UTC days of each venue. Every venue has every day of the window, with as many scheduled minutes as are over and
-- published. On a day without measurements the other columns are null, not zero. `venue_ids` null: all venues.
create function api.days(window_days integer, venue_ids smallint[] default null)
returns table (
  venue_id smallint,
  day date,
  scheduled_minutes integer,
  measured_minutes integer,
  down_minutes integer,
  degraded_minutes integer,
  half_hour_squares integer,
  three_hour_squares integer,
  rest_minutes integer,
  rest_down_minutes integer,
  rest_half_hour_squares integer,
  rest_three_hour_squares integer,
  stream_minutes integer,
  stream_down_minutes integer,
  stream_half_hour_squares integer,
  stream_three_hour_squares integer
)
language sql stable
begin atomic
  select
    v.venue_id,
    c.day,
    -- a measured minute was scheduled, whatever the registry's dates say
    greatest(
      api.scheduled_minutes(v.watched_from, v.unwatched, c.from_at, c.to_at),
      coalesce(m.measured_minutes, 0)
    ),
    m.measured_minutes, m.down_minutes, m.degraded_minutes, m.half_hour_squares, m.three_hour_squares,
    m.rest_minutes, m.rest_down_minutes, m.rest_half_hour_squares, m.rest_three_hour_squares,
    m.stream_minutes, m.stream_down_minutes, m.stream_half_hour_squares, m.stream_three_hour_squares
  from (
    select d.day, d.from_at, least(d.from_at + interval '24 hours', k.published_to) as to_at
    from api.clock k
    cross join lateral (
      select k.today - back as day, (k.today - back)::timestamp at time zone 'UTC' as from_at
      from generate_series(0, window_days - 1) back
    ) d
    -- Plain values, because scheduled_minutes is inlined only with these: 1,350 calls took a fifth of the board's time
    -- (22 ms, then 18).
    offset 0
  ) c
  cross join venue v
  left join (
    select *
    from api.venue_day d
    where d.day >= (select (k.today - window_days + 1)::timestamp at time zone 'UTC' from api.clock k)
      and (venue_ids is null or d.venue_id = any (venue_ids))
  ) m on m.venue_id = v.venue_id and m.day = c.from_at
  where v.published and (venue_ids is null or v.venue_id = any (venue_ids))
  -- An optimisation fence, because callers use each value several times: without this line each use computes it again,
  -- and none of its functions is inlined.
  offset 0;
end;

-- The UptimeDay object, the same wherever it appears. A row type, which becomes JSON in half the time of
-- json_build_object; the board has 1,350.
create type api.uptime as (
  "date"             date,
  "uptimePct"        numeric,
  "measuredMinutes"  integer,
  "scheduledMinutes" integer,
  "coveragePct"      numeric,
  "uptimePctLow"     numeric,
  "uptimePctHigh"    numeric,
  "downMinutes"      integer,
  "degradedMinutes"  integer
);

-- The bounds of a day assume nothing: as if all unmeasured minutes had been down, and as if none had.
create function api.uptime_day(day date, scheduled integer, measured integer, down integer, degraded integer)
returns api.uptime
language sql immutable parallel safe
return row(
  day,
  api.uptime_pct(measured, down, scheduled),
  coalesce(measured, 0),
  scheduled,
  api.pct_down(coalesce(measured, 0), scheduled),
  -- null if nothing was measured, because down is null
  api.pct_down(measured - down, scheduled),
  api.pct_up(scheduled - down, scheduled),
  down,
  degraded
)::api.uptime;

-- The impairments that turned out to be the region's own: those that ended, but not because others saw the same; and
-- those that have lasted for as long as others may need to see it. An outage that reaches one region some seconds
-- before the others also looks like an impairment, but is real downtime.
create view api.own_impairment as
select i.region_id, i.started_at, i.ended_at, i.venues, i.beside
from impairment i
cross join engine_clock e
where case
  when i.ended_at is not null then not i.seen_elsewhere
  else i.recognised_at <= e.ticked_at - (
    select (f.rules ->> 'impaired_within_ms')::int
    from rules_in_force f
    where f.holds_from <= e.ticked_at
    order by f.holds_from desc
    limit 1
  ) * interval '1 millisecond'
end;

-- What was excluded from a window, and why: impairments of regions, whose minutes count in no uptime. Not on days that
-- an earlier release counted, which excluded nothing.
create function api.excluded(window_days integer) returns json
language sql stable
begin atomic
  select coalesce(
    json_agg(
      json_build_object(
        'region', g.region,
        'from', api.iso(e.from_at),
        'to', api.iso(e.to_at),
        'minutes', extract(epoch from least(e.to_at, w.published_to) - e.from_at)::int / 60,
        'reason', case when cardinality(i.beside) > 0 then 'vantage impaired' else 'region impaired' end,
        'venues', i.venues
      )
      order by e.from_at desc, g.position
    ),
    '[]'
  )
  from api.own_impairment i
  join region g using (region_id)
  cross join (
    select
      greatest((c.today - window_days + 1)::timestamp at time zone 'UTC', c.made_from) as from_at,
      c.published_to,
      k.generated_at
    from api.counted_to c
    cross join api.clock k
  ) w
  -- the whole minutes that it overlaps, of which the last may not be over yet
  cross join lateral (
    select
      greatest(time_bucket('1 minute', i.started_at), w.from_at) as from_at,
      case
        when i.ended_at is not null
          then least(time_bucket('1 minute', i.ended_at) + interval '1 minute', w.generated_at)
      end as to_at
  ) e
  where g.published
    and coalesce(e.to_at, 'infinity') > e.from_at
    and e.from_at < w.published_to;
end;
