-- The median of whole milliseconds: the mean of the two middle values, which are the same for an odd count. As
-- percentile_cont computes it; null with too few values.
create function api.middle(lower_ms integer, upper_ms integer, counted bigint) returns integer
language sql immutable parallel safe
return case when counted >= api.p50_min_answers() then round((lower_ms + upper_ms) / 2::double precision)::int end;

-- Typical REST latency over the seven days up to and including `today`: the median of per-minute medians over all
-- endpoints and regions of a venue, in whole milliseconds. One row per venue; rows without a venue cover a whole
-- category, and the row with neither covers everything: medians do not add up, counts do. upkeep.store_typical stores
-- it.
create function api.typical_of_week(today date)
returns table (venue_id smallint, category text, p50_ms integer, minutes bigint)
language sql stable
begin atomic
  with counted as (
    select v.venue_id, v.category, d.p50_ms, sum(d.minutes)::bigint as minutes
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
      (sum(sum(c.minutes)) over (partition by c.venue_id, c.category order by c.p50_ms))::bigint as upto,
      (sum(sum(c.minutes)) over (partition by c.venue_id, c.category))::bigint as total
    from counted c
    group by grouping sets ((c.venue_id, c.p50_ms), (c.category, c.p50_ms), (c.p50_ms))
  )
  select
    r.venue_id,
    r.category,
    api.middle(
      min(r.p50_ms) filter (where r.upto > (r.total - 1) / 2),
      min(r.p50_ms) filter (where r.upto > r.total / 2),
      min(r.total)
    ),
    min(r.total)
  from ranked r
  group by r.venue_id, r.category;
end;

-- The newest of these that existed at the instant of the answer. Unpublished venues have none.
create view api.typical as
select t.venue_id, t.category, t.p50_ms, t.minutes, t.holds_from
from typical_week t
where t.holds_from = (
  select max(w.holds_from) from typical_week w where w.holds_from <= (select k.generated_at from api.clock k)
);

-- REST latency of the median hour: the medians of the exact hourly medians and 95th percentiles. An hour has some
-- hundreds of samples, a minute only about twelve. Counts published hours with enough answers for a 95th percentile;
-- both figures come from the same hours, so the median is never above the percentile, and `hours` is their number. One
-- row per venue, and one without a venue over all their hours: percentiles do not add up, hours do.
--
-- Counts milliseconds instead of sorting hours, from kept counts where they exist: ninety days have 0.4 million hours.
-- The days before the first whole bucket and after the newest are counted from sample_hour.
create function api.typical_hours(window_days integer, venue_ids smallint[])
returns table (venue_id smallint, p50_ms integer, p95_ms integer, hours bigint)
language sql stable
begin atomic
  with kept as materialized (
    select
      w.from_at,
      w.to_at,
      b.kept_from,
      -- in hours, whose length does not depend on the session's time zone
      greatest(
        b.kept_from,
        (select max(u.bucket) from usual_hour u where u.bucket <= w.to_at - interval '120 hours') + interval '120 hours'
      ) as kept_to
    from (
      select
        (k.today - window_days + 1)::timestamp at time zone 'UTC' as from_at,
        time_bucket('1 hour', k.published_to) as to_at
      from api.clock k
    ) w
    cross join lateral (
      select time_bucket('5 days', w.from_at + interval '120 hours' - interval '1 microsecond') as kept_from
    ) b
  ),
  edges as (
    select k.from_at, k.kept_from as to_at from kept k
    union all
    select k.kept_to, k.to_at from kept k
  ),
  hours as (
    select c.venue_id, api.whole_ms(h.p50_us) as p50_ms, api.whole_ms(h.p95_us) as p95_ms
    from edges e
    cross join lateral (
      select h.component_id, h.p50_us, h.p95_us
      from sample_hour h
      where h.hour >= e.from_at and h.hour < e.to_at and h.hour < (select k.to_at from kept k)
        -- an array, so that the index is used by component; a join would read all components of these days
        and h.component_id = any (
          array(select r.component_id from component r where r.kind = 'rest' and r.venue_id = any (venue_ids))
        )
        and h.p50_us is not null
        and h.good >= api.p95_min_answers()
      -- each edge separately: joined freely, all ninety days may be read and filtered
      offset 0
    ) h
    join component c using (component_id)
  ),
  counts as (
    select u.venue_id, u.is_p50, u.ms, u.hours
    from usual_hour u
    where u.venue_id = any (venue_ids) and u.bucket >= (select k.kept_from from kept k)
      and u.bucket < (select k.kept_to from kept k)
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
      (sum(sum(v.hours)::int) over (partition by v.venue_id, v.is_p50 order by v.ms))::bigint as upto,
      (sum(sum(v.hours)::int) over (partition by v.venue_id, v.is_p50))::bigint as total
    from by_venue v
    group by grouping sets ((v.venue_id, v.is_p50, v.ms), (v.is_p50, v.ms))
  )
  select
    r.venue_id,
    api.middle(
      min(r.ms) filter (where r.is_p50 and r.upto > (r.total - 1) / 2),
      min(r.ms) filter (where r.is_p50 and r.upto > r.total / 2),
      min(r.total)
    ),
    api.middle(
      min(r.ms) filter (where not r.is_p50 and r.upto > (r.total - 1) / 2),
      min(r.ms) filter (where not r.is_p50 and r.upto > r.total / 2),
      min(r.total)
    ),
    min(r.total)
  from ranked r
  group by r.venue_id;
end;

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
        'degradedMinutes', d.degraded_minutes
      )
      order by c.position
    )
  from component c
  cross join w
  left join counted d using (component_id)
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
      sum(d.stream_down_minutes) as stream_down_minutes
    from api.days(window_days, venue_ids) d
    group by grouping sets ((d.venue_id), ())
  )
  select
    u.venue_id,
    u.down_minutes,
    a.basis,
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
    select api.uptime_basis(u.measured_minutes, u.down_minutes, u.scheduled_minutes) as basis
  ) a
  left join venue v using (venue_id)
  left join api.component_uptimes(window_days, venue_ids) c using (venue_id)
  -- matches the total row too
  left join api.typical_hours(window_days, venue_ids) h on h.venue_id is not distinct from u.venue_id
  left join api.incident_counts(window_days, venue_ids) i on i.venue_id is not distinct from u.venue_id;
end;
$$;
