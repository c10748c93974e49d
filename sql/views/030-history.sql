-- What was each UTC day of each venue like? Every venue has every day of the window; a day that nobody measured has
-- nulls, not zeroes. `venue_ids` null: all venues.
create function api.days(window_days integer, venue_ids smallint[] default null)
returns table (
  venue_id         smallint,
  day              date,
  measured_minutes integer,
  down_minutes     integer,
  degraded_minutes integer
)
language sql stable
begin atomic
  with days as (
    -- one value, not a joined row: then it is reckoned once, and not for each day of each venue
    select (select k.today from api.clock k) - back as day
    from generate_series(0, window_days - 1) back
  ),
  measured as (
    select d.venue_id, (d.day at time zone 'UTC')::date as day, d.measured_minutes, d.down_minutes, d.degraded_minutes
    from venue_day d, api.clock k
    where d.day > ((k.today - window_days)::timestamp at time zone 'UTC')
      and (venue_ids is null or d.venue_id = any (venue_ids))
  )
  select v.venue_id, c.day, m.measured_minutes, m.down_minutes, m.degraded_minutes
  from venue v
  cross join days c
  left join measured m on m.venue_id = v.venue_id and m.day = c.day
  where v.published and (venue_ids is null or v.venue_id = any (venue_ids));
end;

-- The UptimeDay object, the same wherever it appears: as a row, which becomes JSON in half the time of json_build_object, and there are 1,350 on the
-- board.
create type api.uptime as (
  "date"            date,
  "uptimePct"       numeric,
  "measuredMinutes" integer,
  "downMinutes"     integer,
  "degradedMinutes" integer
);

create function api.uptime_day(day date, measured_minutes integer, down_minutes integer, degraded_minutes integer)
returns api.uptime
language sql immutable
return row(day, api.uptime_pct(measured_minutes, down_minutes), coalesce(measured_minutes, 0), down_minutes, degraded_minutes)::api.uptime;

-- How long does REST usually take, over seven days that end with this one? The median of per-minute medians over all endpoints and regions of a
-- venue, whole milliseconds. By venue; in the rows without one over the minutes of all of a category, and in that with neither of all: medians do not
-- add up, counts do.
create function api.typical_of_week(today date)
returns table (venue_id smallint, category text, p50_ms integer)
language sql stable
begin atomic
  with counted as (
    select v.venue_id, v.category, d.p50_ms, sum(d.minutes)::int as minutes
    from venue_latency_day d
    join venue v using (venue_id)
    where v.published and d.day > ((typical_of_week.today - 7)::timestamp at time zone 'UTC')
    group by v.venue_id, v.category, d.p50_ms
  ),
  ranked as (
    select
      c.venue_id,
      c.category,
      c.p50_ms,
      sum(sum(c.minutes)) over (partition by c.venue_id, c.category order by c.p50_ms) as upto,
      sum(sum(c.minutes)) over (partition by c.venue_id, c.category) as total
    from counted c
    group by grouping sets ((c.venue_id, c.p50_ms), (c.category, c.p50_ms), (c.p50_ms))
  )
  select r.venue_id, r.category, (min(r.p50_ms) filter (where r.upto * 2 >= r.total))::int
  from ranked r
  group by r.venue_id, r.category;
end;

-- That of today: as upkeep has kept it, or where it has not yet, as in the first minutes of a day, counted now.
create view api.typical as
with kept as materialized (
  select t.venue_id, t.category, t.p50_ms
  from typical_week t
  where t.today = (select k.today from api.clock k)
)
select venue_id, category, p50_ms from kept
union all
select t.venue_id, t.category, t.p50_ms
from api.typical_of_week((select k.today from api.clock k)) t
where not exists (select from kept);

-- Web of 0.7 asks this until it is restarted, and goes on meanwhile; no longer in 0.9.
create function api.typical(window_days integer, venue_ids smallint[]) returns table (venue_id smallint, p50_ms integer)
language sql stable
begin atomic
  select t.venue_id, t.p50_ms
  from api.typical t
  where t.venue_id = any (venue_ids) or t.venue_id is null and t.category is null;
end;

-- How long does REST take in a usual hour, and how long its slowest twentieth? The medians of the exact percentiles of hours, which are
-- over some hundreds of samples, where a minute has about twelve. Both of the same hours, so the one is never above the
-- other. By venue, and in the row without one over the hours of all of them: percentiles do not add up, hours do.
--
-- By counting milliseconds instead of sorting hours, and from counts that are kept, as far as there are any: ninety days have
-- 0.4 million hours. The days before the first whole bucket, and those after the newest, are counted anew.
create function api.typical_hours(window_days integer, venue_ids smallint[])
returns table (venue_id smallint, p50_ms integer, p95_ms integer)
language sql stable
begin atomic
  with kept as materialized (
    select
      w.from_at,
      b.kept_from,
      -- in hours, which are as long in every session's time zone
      greatest(b.kept_from, (select max(u.bucket) from usual_hour u) + interval '120 hours') as kept_to
    from (select (k.today - window_days + 1)::timestamp at time zone 'UTC' as from_at from api.clock k) w
    cross join lateral (
      select time_bucket('5 days', w.from_at + interval '120 hours' - interval '1 microsecond') as kept_from
    ) b
  ),
  edges as (
    select k.from_at, k.kept_from as to_at from kept k
    union all
    select k.kept_to, 'infinity' from kept k
  ),
  hours as (
    select c.venue_id, api.whole_ms(h.p50_us) as p50_ms, api.whole_ms(h.p95_us) as p95_ms
    from edges e
    cross join lateral (
      select h.component_id, h.p50_us, h.p95_us
      from sample_hour h
      where h.hour >= e.from_at and h.hour < e.to_at
        -- as an array, so that the index is entered by the component; joined, all components of the days would be read
        and h.component_id = any (
          array(select r.component_id from component r where r.kind = 'rest' and r.venue_id = any (venue_ids))
        )
        and h.p50_us is not null
      -- each edge by itself: joined freely, all ninety days may be read to leave out what is in neither
      offset 0
    ) h
    join component c using (component_id)
  ),
  counts as (
    select u.venue_id, u.is_p50, u.ms, u.hours
    from usual_hour u
    where u.venue_id = any (venue_ids) and u.bucket >= (select k.kept_from from kept k)
    union all
    select h.venue_id, grouping(h.p50_ms) = 0, coalesce(h.p50_ms, h.p95_ms), count(*)::int
    from hours h
    group by grouping sets ((h.venue_id, h.p50_ms), (h.venue_id, h.p95_ms))
  ),
  by_venue as (
    select c.venue_id, c.is_p50, c.ms, sum(c.hours)::int as hours
    from counts c
    group by c.venue_id, c.is_p50, c.ms
  ),
  ranked as (
    select
      v.venue_id,
      v.is_p50,
      v.ms,
      sum(sum(v.hours)::int) over (partition by v.venue_id, v.is_p50 order by v.ms) as upto,
      sum(sum(v.hours)::int) over (partition by v.venue_id, v.is_p50) as total
    from by_venue v
    group by grouping sets ((v.venue_id, v.is_p50, v.ms), (v.is_p50, v.ms))
  )
  select
    r.venue_id,
    min(r.ms) filter (where r.is_p50 and r.upto * 2 >= r.total),
    min(r.ms) filter (where not r.is_p50 and r.upto * 2 >= r.total)
  from ranked r
  group by r.venue_id;
end;

-- How many incidents started in the days of a window, and how long did they last? The mean is of closed ones, since of an open one
-- nobody knows its length; the longest counts an open one for what it has lasted, or a venue three days into an outage would
-- show some minute. By venue, and in the row without one of all of them. No row for a venue without any.
create function api.incident_counts(window_days integer, venue_ids smallint[])
returns table (
  venue_id        smallint,
  incidents       bigint,
  outages         bigint,
  open_incidents  bigint,
  mean_seconds    integer,
  longest_seconds integer
)
language sql stable
begin atomic
  select
    c.venue_id,
    count(*),
    count(*) filter (where i.peak_severity = 'outage'),
    count(*) filter (where i.closed_at is null),
    avg(extract(epoch from i.closed_at - i.started_at))::int,
    max(extract(epoch from coalesce(i.closed_at, k.generated_at) - i.started_at))::int
  from incident i
  join component c using (component_id)
  cross join api.clock k
  where i.retracted_at is null
    -- the same days as those of the minutes: what one column of a row counts, all of them count
    and i.started_at >= ((k.today - window_days + 1)::timestamp at time zone 'UTC')
    and c.venue_id = any (venue_ids)
  group by grouping sets ((c.venue_id), ());
end;

-- How reliable was each of these venues over a window, and, in the row without a venue, all of them together? One
-- computation for every place that shows it; `body` is the ReliabilityVenue object, the same wherever it appears, and null in the
-- row of all, which is there for no venue too. plpgsql, for its plan is kept.
create function api.reliability(window_days integer, venue_ids smallint[])
returns table (
  venue_id       smallint,
  down_minutes   bigint,
  uptime_pct     numeric,
  typical_p50_ms integer,
  typical_p95_ms integer,
  incidents      bigint,
  body           json
)
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  with uptime as (
    select
      d.venue_id,
      count(d.measured_minutes)::int as measured_days,
      coalesce(sum(d.measured_minutes), 0) as measured_minutes,
      -- null where nothing was measured: not known to be none
      sum(d.down_minutes) as down_minutes,
      sum(d.degraded_minutes) as degraded_minutes
    from api.days(window_days, venue_ids) d
    group by grouping sets ((d.venue_id), ())
  )
  select
    u.venue_id,
    u.down_minutes,
    api.uptime_pct(u.measured_minutes, u.down_minutes),
    h.p50_ms,
    h.p95_ms,
    coalesce(i.incidents, 0),
    case when u.venue_id is not null then json_build_object(
      'id', v.venue,
      'name', v.name,
      'category', v.category,
      'days', window_days,
      'measuredDays', u.measured_days,
      'measuredMinutes', u.measured_minutes,
      'downMinutes', u.down_minutes,
      'degradedMinutes', u.degraded_minutes,
      'uptimePct', api.uptime_pct(u.measured_minutes, u.down_minutes),
      'typicalP50Ms', h.p50_ms,
      'typicalP95Ms', h.p95_ms,
      'incidents', coalesce(i.incidents, 0),
      'outages', coalesce(i.outages, 0),
      'openIncidents', coalesce(i.open_incidents, 0),
      'meanIncidentSeconds', i.mean_seconds,
      'longestIncidentSeconds', i.longest_seconds
    ) end
  from uptime u
  left join venue v using (venue_id)
  -- the row of all finds its own
  left join api.typical_hours(window_days, venue_ids) h on h.venue_id is not distinct from u.venue_id
  left join api.incident_counts(window_days, venue_ids) i on i.venue_id is not distinct from u.venue_id;
end;
$$;
