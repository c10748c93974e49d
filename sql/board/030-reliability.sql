-- Incidents that started within the days of a window, and their duration from the first bad sample to the last. The
-- mean covers closed incidents, because the length of an open one is unknown; the longest includes the duration of open
-- ones so far, or a venue three days into an outage would show a few minutes. One row per venue with incidents, and one
-- without a venue over all of them.
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
    round(
      avg(extract(epoch from i.last_bad_at - i.started_at)) filter (where i.closed_at is not null)::double precision
    )::int,
    round(
      max(
        extract(epoch from case when i.closed_at is null then k.generated_at else i.last_bad_at end - i.started_at)
      )::double precision
    )::int
  from incident i
  join component c using (component_id)
  cross join api.clock k
  where i.retracted_at is null
    -- the same days as for minutes, so that all columns of a row cover the same period
    and i.started_at >= ((k.today - window_days + 1)::timestamp at time zone 'UTC')
    and c.venue_id = any (venue_ids)
  group by grouping sets ((c.venue_id), ());
end;

-- The uptimes of a venue's published components, REST and streams: the objects in a ReliabilityVenue.
create function api.component_uptimes(window_days integer, venue_ids smallint[])
returns table (venue_id smallint, components json)
language sql stable
begin atomic
  with w as materialized (
    select (k.today - window_days + 1)::timestamp at time zone 'UTC' as from_at, k.published_to from api.clock k
  ),
  counted as (
    select
      d.component_id,
      sum(d.degraded_minutes) as degraded_minutes,
      sum(d.measured_minutes) as measured_minutes,
      sum(d.down_minutes) as down_minutes,
      -- a measured minute was scheduled, whatever the registry's dates say
      sum(greatest(d.measured_minutes - s.by_clock, 0)) as more_minutes
    from api.component_day d
    join component c using (component_id)
    cross join w
    cross join lateral (
      select api.scheduled_minutes(
        c.watched_from, c.unwatched, d.day, least(d.day + interval '24 hours', w.published_to)
      ) as by_clock
    ) s
    where d.day >= (select w.from_at from w)
      and d.component_id = any (array(select o.component_id from component o where o.venue_id = any (venue_ids)))
    group by d.component_id
  ),
  maintained as (
    select
      m.component_id,
      sum(m.minutes) as minutes,
      sum(m.measured_minutes) as measured_minutes,
      sum(m.down_minutes) as down_minutes
    from api.maintenance_day m
    where m.venue_id = any (venue_ids) and m.component_id is not null and m.day >= (select w.from_at from w)
    group by m.component_id
  )
  select
    c.venue_id,
    json_agg(
      json_build_object(
        'component', c.component,
        'label', c.label,
        'uptimePct', u."uptimePct",
        'measuredMinutes', u."measuredMinutes",
        'scheduledMinutes', u."scheduledMinutes",
        'coveragePct', u."coveragePct",
        'uptimePctLow', u."uptimePctLow",
        'uptimePctHigh', u."uptimePctHigh",
        'downMinutes', d.down_minutes,
        'degradedMinutes', d.degraded_minutes,
        'withoutMaintenance', api.without_maintenance(
          u."scheduledMinutes", d.measured_minutes, d.down_minutes, a.minutes, a.measured_minutes, a.down_minutes
        )
      )
      order by c.position
    )
  from component c
  cross join w
  left join counted d using (component_id)
  left join maintained a using (component_id)
  cross join lateral api.uptime_basis(
    d.measured_minutes,
    d.down_minutes,
    -- The whole minutes of a gap are counted over the window here and by day above: without `greatest`, these may be
    -- more.
    greatest(
      api.scheduled_minutes(c.watched_from, c.unwatched, w.from_at, w.published_to) + coalesce(d.more_minutes, 0),
      d.measured_minutes
    )
  ) u
  where c.published and c.venue_id = any (venue_ids)
  group by c.venue_id;
end;

-- The uptime of a venue's REST alone, or of its streams.
create function api.uptime_part(measured bigint, down bigint, scheduled bigint) returns json
language sql stable
return (
  select json_build_object(
    'uptimePct', u."uptimePct",
    'measuredMinutes', u."measuredMinutes",
    'scheduledMinutes', u."scheduledMinutes",
    'coveragePct', u."coveragePct",
    'uptimePctLow', u."uptimePctLow",
    'uptimePctHigh', u."uptimePctHigh",
    'downMinutes', case when measured > 0 then down end
  )
  from api.uptime_basis(measured, down, scheduled) u
);

-- Reliability of each of these venues over a window, and, in the row without a venue, of all of them together. All
-- callers share this computation. `body` is the ReliabilityVenue object, the same wherever it appears; it is null in
-- the total row, which exists even without venues. plpgsql, because its plan is cached.
create function api.reliability(window_days integer, venue_ids smallint[])
returns table (
  venue_id       smallint,
  down_minutes   bigint,
  uptime         api.uptime_basis,
  without_maintenance json,
  typical_p50_ms integer,
  typical_p95_ms integer,
  typical_hours  bigint,
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
      sum(d.scheduled_minutes) as scheduled_minutes,
      -- null if nothing was measured: unknown, not zero
      sum(d.measured_minutes) as measured_minutes,
      sum(d.down_minutes) as down_minutes,
      sum(d.degraded_minutes) as degraded_minutes,
      sum(d.rest_minutes) as rest_minutes,
      sum(d.rest_down_minutes) as rest_down_minutes,
      sum(d.stream_minutes) as stream_minutes,
      sum(d.stream_down_minutes) as stream_down_minutes,
      coalesce(sum(d.maintenance_minutes), 0) as maintenance,
      coalesce(sum(d.maintenance_measured_minutes), 0) as maintenance_measured,
      coalesce(sum(d.maintenance_down_minutes), 0) as maintenance_down
    from api.days(window_days, venue_ids) d
    group by grouping sets ((d.venue_id), ())
  )
  select
    u.venue_id,
    u.down_minutes,
    a.basis,
    a.without_maintenance,
    h.p50_ms,
    h.p95_ms,
    coalesce(h.hours, 0),
    coalesce(i.incidents, 0),
    case when u.venue_id is not null then json_build_object(
      'id', v.venue,
      'name', v.name,
      'category', v.category,
      'days', window_days,
      'measuredDays', u.measured_days,
      'measuredMinutes', (a.basis)."measuredMinutes",
      'scheduledMinutes', (a.basis)."scheduledMinutes",
      'coveragePct', (a.basis)."coveragePct",
      'downMinutes', u.down_minutes,
      'degradedMinutes', u.degraded_minutes,
      'uptimePct', (a.basis)."uptimePct",
      'uptimePctLow', (a.basis)."uptimePctLow",
      'uptimePctHigh', (a.basis)."uptimePctHigh",
      'withoutMaintenance', a.without_maintenance,
      'rest', api.uptime_part(u.rest_minutes, u.rest_down_minutes, u.scheduled_minutes),
      'streams', api.uptime_part(u.stream_minutes, u.stream_down_minutes, u.scheduled_minutes),
      'components', coalesce(c.components, '[]'),
      'typicalP50Ms', h.p50_ms,
      'typicalP95Ms', h.p95_ms,
      'typicalHours', coalesce(h.hours, 0),
      'incidents', coalesce(i.incidents, 0),
      'outages', coalesce(i.outages, 0),
      'openIncidents', coalesce(i.open_incidents, 0),
      'meanIncidentSeconds', i.mean_seconds,
      'longestIncidentSeconds', i.longest_seconds
    ) end
  from uptime u
  cross join lateral (
    select
      api.uptime_basis(u.measured_minutes, u.down_minutes, u.scheduled_minutes) as basis,
      api.without_maintenance(
        u.scheduled_minutes, u.measured_minutes, u.down_minutes, u.maintenance, u.maintenance_measured,
        u.maintenance_down
      ) as without_maintenance
  ) a
  left join venue v using (venue_id)
  left join api.component_uptimes(window_days, venue_ids) c using (venue_id)
  -- matches the total row too
  left join api.typical_hours(window_days, venue_ids) h on h.venue_id is not distinct from u.venue_id
  left join api.incident_counts(window_days, venue_ids) i on i.venue_id is not distinct from u.venue_id;
end;
$$;
