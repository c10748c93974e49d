-- What was each UTC day of each venue like? Every venue has every day of the window; a day that nobody measured has
-- nulls, not zeroes. `only_venue` null: all venues.
create function api.days(window_days integer, only_venue smallint default null)
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
    select (k.today - back)::date as day
    from api.clock k, generate_series(0, window_days - 1) back
  ),
  measured as (
    select d.venue_id, (d.day at time zone 'UTC')::date as day, d.measured_minutes, d.down_minutes, d.degraded_minutes
    from venue_day d, api.clock k
    where d.day > ((k.today - window_days)::timestamp at time zone 'UTC')
      and (only_venue is null or d.venue_id = only_venue)
  )
  select v.venue_id, c.day, m.measured_minutes, m.down_minutes, m.degraded_minutes
  from venue v
  cross join days c
  left join measured m on m.venue_id = v.venue_id and m.day = c.day
  where v.published and (only_venue is null or v.venue_id = only_venue);
end;

-- The REST components of a venue; null: of all.
create function api.rest_of(only_venue smallint) returns setof integer
language sql stable
begin atomic
  select c.component_id
  from component c
  where c.kind = 'rest' and (only_venue is null or c.venue_id = only_venue);
end;

-- The UptimeDay object, the same wherever it appears.
create function api.uptime_day(day date, measured_minutes integer, down_minutes integer, degraded_minutes integer)
returns json
language sql immutable
return json_build_object(
  'date', day,
  'uptimePct', api.uptime_pct(measured_minutes, down_minutes),
  'measuredMinutes', coalesce(measured_minutes, 0),
  'downMinutes', down_minutes,
  'degradedMinutes', degraded_minutes
);

-- How many minutes had which median, over all endpoints and regions of each venue? Medians do not add up, counts do: what is
-- typical of a venue and of a set of them stands on the same counts.
create function api.latency_counts(window_days integer, only_venue smallint default null)
returns table (venue_id smallint, p50_ms integer, minutes bigint)
language sql stable
begin atomic
  select c.venue_id, l.p50_ms, sum(l.minutes)::bigint
  from latency_day l
  join component c using (component_id)
  cross join api.clock k
  -- as an array, so that the index is entered by the component; joined, all components of the days would be read
  where l.component_id = any (array(select api.rest_of(only_venue)))
    and l.day > ((k.today - window_days)::timestamp at time zone 'UTC')
  group by c.venue_id, l.p50_ms;
end;

-- How long does each venue's REST usually take? The median of per-minute medians over all its endpoints and regions,
-- whole milliseconds, from counts that add up exactly.
create function api.typical(window_days integer, only_venue smallint default null)
returns table (venue_id smallint, p50_ms integer)
language sql stable
begin atomic
  with counts as materialized (
    select * from api.latency_counts(window_days, only_venue)
  ),
  ranked as (
    select
      c.venue_id,
      c.p50_ms,
      sum(c.minutes) over (partition by c.venue_id order by c.p50_ms) as upto,
      sum(c.minutes) over (partition by c.venue_id) as total
    from counts c
  )
  select r.venue_id, min(r.p50_ms) filter (where r.upto * 2 >= r.total)
  from ranked r
  group by r.venue_id;
end;

-- And when it takes long? The median of the 95th percentiles of hours: those are exact over some hundreds of samples,
-- where a minute has about twelve, of which the 95th percentile is nearly the slowest.
create function api.typical_p95(window_days integer, only_venue smallint default null)
returns table (venue_id smallint, p95_ms integer)
language sql stable
begin atomic
  select c.venue_id, api.whole_ms(percentile_cont(0.5) within group (order by h.p95_us))
  from sample_hour h
  join component c using (component_id)
  cross join api.clock k
  where h.component_id = any (array(select api.rest_of(only_venue)))
    and h.hour >= ((k.today - window_days + 1)::timestamp at time zone 'UTC')
  group by c.venue_id;
end;

-- How reliable was each venue over a window? One computation for every place that shows it.
create function api.reliability(window_days integer, only_venue smallint default null)
returns table (
  venue_id         smallint,
  measured_days    integer,
  measured_minutes bigint,
  down_minutes     bigint,
  degraded_minutes bigint,
  uptime_pct       numeric,
  typical_p50_ms   integer,
  typical_p95_ms   integer,
  incidents        bigint,
  outages          bigint,
  longest_seconds  integer,
  mean_seconds     integer
)
language sql stable
begin atomic
  with uptime as (
    select
      d.venue_id,
      count(d.measured_minutes)::int as measured_days,
      coalesce(sum(d.measured_minutes), 0) as measured_minutes,
      coalesce(sum(d.down_minutes), 0) as down_minutes,
      coalesce(sum(d.degraded_minutes), 0) as degraded_minutes
    from api.days(window_days, only_venue) d
    group by d.venue_id
  ),
  incidents as (
    select
      c.venue_id,
      count(*) as incidents,
      count(*) filter (where i.peak_severity = 'outage') as outages,
      max(extract(epoch from i.closed_at - i.started_at))::int as longest_seconds,
      avg(extract(epoch from i.closed_at - i.started_at))::int as mean_seconds
    from incident i
    join component c using (component_id)
    cross join api.clock k
    where i.retracted_at is null
      and i.started_at > k.generated_at - window_days * interval '1 day'
      and (only_venue is null or c.venue_id = only_venue)
    group by c.venue_id
  )
  select
    u.venue_id,
    u.measured_days,
    u.measured_minutes,
    u.down_minutes,
    u.degraded_minutes,
    api.uptime_pct(u.measured_minutes, u.down_minutes),
    t.p50_ms,
    l.p95_ms,
    coalesce(i.incidents, 0),
    coalesce(i.outages, 0),
    i.longest_seconds,
    i.mean_seconds
  from uptime u
  left join api.typical(window_days, only_venue) t using (venue_id)
  left join api.typical_p95(window_days, only_venue) l using (venue_id)
  left join incidents i using (venue_id);
end;
