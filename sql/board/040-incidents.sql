-- The Incident object (`body`), the same wherever it appears. An incident lasts until its last bad sample: the hold
-- until it closes is not part of the venue's trouble. A closed one has the worst severity that it reached, as its
-- closing alert has: an outage that faded before it ended is still an outage. Retracted incidents are excluded. Those
-- of unpublished venues are only for alerts, which report their end.
create view api.incident_written as
select
  i.incident_id,
  i.slug,
  v.venue_id,
  v.venue,
  v.category,
  v.published,
  i.component_id,
  c.component,
  c.kind,
  s.severity,
  i.peak_severity,
  case when i.closed_at is null then 'open' else 'closed' end as status,
  i.started_at,
  i.opened_at,
  i.escalated_at,
  i.last_bad_at,
  i.closed_at,
  i.evidence,
  json_build_object(
    'id', i.incident_id,
    'slug', i.slug,
    'venue', v.venue,
    'component', c.component,
    'kind', c.kind,
    'label', c.label,
    'severity', s.severity,
    'peakSeverity', i.peak_severity,
    'status', case when i.closed_at is null then 'open' else 'closed' end,
    'startedAt', api.iso(i.started_at),
    'openedAt', api.iso(i.opened_at),
    'escalatedAt', api.iso(i.escalated_at),
    'lastBadAt', api.iso(i.last_bad_at),
    'closedAt', api.iso(i.closed_at),
    'flapping', i.flapping,
    'fault', api.main_fault(i.evidence),
    'endedAt', case when i.closed_at is not null then api.iso(i.last_bad_at) end,
    'durationSeconds',
    case when i.closed_at is not null then round(extract(epoch from i.last_bad_at - i.started_at)) end,
    'quorum', i.evidence -> 'opening' -> 'quorum',
    'reporting', i.evidence -> 'opening' -> 'reporting',
    'counted', i.evidence -> 'opening' -> 'counted',
    'regions', coalesce(
      (
        select json_agg(vote ->> 'region')
        from jsonb_array_elements(i.evidence -> 'opening' -> 'votes') vote
        where vote ->> 'vote' in ('degraded', 'outage')
      ),
      '[]'
    ),
    'official', api.notice_beside(v.venue_id, i.incident_id, i.started_at, i.opened_at),
    'officialObserved', api.was_observed(v.venue_id, i.started_at),
    'maintenance', api.maintenance_beside(v.venue_id, i.started_at, i.opened_at, i.last_bad_at)
  ) as body
from incident i
join component c using (component_id)
join venue v using (venue_id)
cross join lateral (select case when i.closed_at is null then i.severity else i.peak_severity end as severity) s
where i.retracted_at is null;

-- The incidents that the public may see. Retracted ones and those of unpublished venues never pass this view.
create view api.incident as
select
  i.incident_id,
  i.slug,
  i.venue_id,
  i.venue,
  i.category,
  i.component_id,
  i.component,
  i.kind,
  i.severity,
  i.peak_severity,
  i.status,
  i.started_at,
  i.opened_at,
  i.escalated_at,
  i.last_bad_at,
  i.closed_at,
  i.evidence,
  i.body
from api.incident_written i
where i.published;

-- What is public about a retracted incident: when and why. Nothing for unpublished venues.
create view api.retracted as
select
  i.slug,
  api.iso(i.retracted_at) as retracted_at,
  i.retraction_reason as reason
from incident i
join component c using (component_id)
join venue v using (venue_id)
where i.retracted_at is not null and v.published;

-- The samples of some components between two instants, by minute, as far as they had arrived by known_at. Like
-- sample_minute, without the columns of streams. Planned for each window, as api.samples_between is.
create function api.minutes_between(components integer[], from_at timestamptz, to_at timestamptz, known_at timestamptz)
returns table (
  minute timestamptz, component_id integer, region_id smallint, samples integer, good integer, p50_us integer,
  p95_us integer,
  faults fault[]
)
language plpgsql stable
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
begin
  if from_at >= to_at then
    return;
  end if;
  return query
  select
    time_bucket('1 minute', s.ts),
    s.component_id,
    s.region_id,
    count(*)::int,
    count(*) filter (where s.good)::int,
    round(percentile_cont(0.5) within group (order by s.latency_us) filter (where s.good))::int,
    round(percentile_cont(0.95) within group (order by s.latency_us) filter (where s.good))::int,
    array_agg(s.fault) filter (where s.fault is not null)
  from sample s
  where s.component_id = any (components)
    and s.ts >= from_at and s.ts < to_at and s.ts <= known_at
    and api.known_by(known_at, s.ts, s.received_after_s)
  group by 1, 2, 3;
end;
$$;

-- The minutes of some components that overlap a time: published ones from the roll-up, the few after that from samples.
create function api.minutes_touching(components integer[], from_at timestamptz, to_at timestamptz)
returns table (
  minute timestamptz, component_id integer, region_id smallint, samples integer, good integer, p50_us integer,
  p95_us integer,
  faults fault[]
)
language sql stable
begin atomic
  select
    m.minute, m.component_id, m.region_id, m.samples, m.good, m.p50_us, m.p95_us, m.faults
  from sample_minute m
  where m.component_id = any (components)
    and m.minute >= time_bucket('1 minute', from_at) and m.minute <= to_at
    and m.minute < (select k.published_to from api.clock k)
  union all
  select r.*
  from api.clock k
  cross join lateral api.minutes_between(
    components,
    greatest(time_bucket('1 minute', from_at), k.published_to),
    time_bucket('1 minute', to_at) + interval '1 minute',
    k.generated_at
  ) r;
end;

-- What went wrong in a component between two instants, by the minutes that overlap them: {from, to, samples, bad,
-- faults, regions}. Counts are null if no minute is kept any more: not measured is not zero. A region that measured
-- nothing while others did is listed with 0 samples.
create function api.errors(of_component integer, from_at timestamptz, to_at timestamptz) returns json
language sql stable
begin atomic
  with minutes as materialized (
    select * from api.minutes_touching(array[of_component], from_at, to_at)
  ),
  by_region as materialized (
    select m.region_id, sum(m.samples)::int as samples, sum(m.samples - m.good)::int as bad
    from minutes m
    group by m.region_id
  ),
  faults as (
    select m.region_id, f.fault::text as fault, count(*)::int as n
    from minutes m
    cross join unnest(m.faults) as f (fault)
    group by m.region_id, f.fault
  )
  select json_build_object(
    'from', api.iso(from_at),
    'to', api.iso(to_at),
    'samples', (select sum(b.samples) from by_region b),
    'bad', (select sum(b.bad) from by_region b),
    'faults', coalesce(
      (
        select json_agg(json_build_object('fault', t.fault, 'count', t.n) order by t.n desc, t.fault)
        from (select f.fault, sum(f.n) as n from faults f group by f.fault) t
      ),
      '[]'
    ),
    'regions', coalesce(
      (
        select json_agg(
          json_build_object(
            'region', g.region,
            'samples', coalesce(b.samples, 0),
            'bad', coalesce(b.bad, 0),
            'faults', coalesce(
              (
                select json_object_agg(f.fault, f.n order by f.n desc, f.fault)
                from faults f
                where f.region_id = b.region_id
              ),
              '{}'
            )
          )
          order by g.position
        )
        from region g
        left join by_region b using (region_id)
        where b.region_id is not null or (g.published and exists (select from by_region))
      ),
      '[]'
    )
  );
end;

-- REST latency during an incident, compared with the day before. For a stream, that of the venue's REST, and labelled
-- so. By hour if the incident lasts longer than a day, because its minutes would be millions. Null if nothing was
-- answered in either period.
--
-- The total covers only regions with answers both before and during: a slow region that fails has no answers during,
-- and the fault would look like an improvement. If there is no such region, it covers all.
--
-- A median needs its minimum of answers. A minute with too few answers for a 95th percentile counts for none; if that
-- is so of most minutes, or the others were so fast that theirs lies below the median of all, there is none.
create function api.incident_latency(of_component integer, from_at timestamptz, to_at timestamptz) returns json
language sql stable
begin atomic
  with measured as (
    select c.component_id
    from component i
    join component c on c.component_id = i.component_id or (i.kind = 'ws' and c.venue_id = i.venue_id)
    where i.component_id = of_component and c.kind = 'rest'
  ),
  width as (
    select case when to_at - from_at <= interval '1 day' then interval '1 minute' else interval '1 hour' end as bucket
  ),
  buckets as (
    select m.region_id, m.minute >= time_bucket('1 minute', from_at) as during, m.good, m.p50_us, m.p95_us
    from api.minutes_touching(
      case when to_at - from_at <= interval '1 day' then array(select component_id from measured) end,
      from_at - interval '1 day',
      to_at
    ) m
    where m.p50_us is not null and m.minute >= from_at - interval '1 day'
    union all
    -- published hours
    select h.region_id, h.hour >= time_bucket('1 hour', from_at), h.good, h.p50_us, h.p95_us
    from sample_hour h
    where to_at - from_at > interval '1 day'
      and h.hour < (select time_bucket('1 hour', k.published_to) from api.clock k)
      and h.component_id = any (array(select component_id from measured))
      and h.hour >= from_at - interval '1 day' and h.hour <= to_at
      and h.p50_us is not null
  ),
  in_both as materialized (
    select b.region_id from buckets b group by b.region_id having count(distinct b.during) = 2
  ),
  compared as (
    select null::smallint as region_id, b.during, b.good, b.p50_us, b.p95_us
    from buckets b
    where b.region_id in (select region_id from in_both) or not exists (select from in_both)
    union all
    select b.region_id, b.during, b.good, b.p50_us, b.p95_us
    from buckets b
  ),
  spread as (
    select
      c.region_id,
      c.during,
      count(*)::int as buckets,
      count(*) filter (where c.good >= api.p95_min_answers())::int as with_p95,
      sum(c.good)::int as answers,
      percentile_cont(0.5) within group (order by c.p50_us) as p50_us,
      percentile_cont(0.5) within group (order by c.p95_us) filter (where c.good >= api.p95_min_answers()) as p95_us,
      max(c.p50_us) filter (where c.good >= api.p50_min_answers()) as slowest_us
    from compared c
    group by c.region_id, c.during
  ),
  medians as materialized (
    select
      s.region_id,
      s.during,
      s.buckets,
      s.answers,
      api.p50_ms(s.p50_us, s.answers) as p50_ms,
      case when 2 * s.with_p95 >= s.buckets and s.p95_us >= s.p50_us then api.whole_ms(s.p95_us) end as p95_ms,
      api.whole_ms(s.slowest_us) as slowest_ms
    from spread s
  )
  select json_build_object(
    'source', s.source,
    'label', case s.source
      when 'component' then 'Latency of this endpoint'
      else 'REST latency of the venue in the same window; a stream has no latency of its own'
    end,
    'bucketMs', (select (extract(epoch from bucket) * 1000)::int from width),
    'before', json_build_object(
      'from', api.iso(from_at - interval '1 day'),
      'to', api.iso(from_at),
      'buckets', coalesce(before.buckets, 0),
      'answers', coalesce(before.answers, 0),
      'p50Ms', before.p50_ms,
      'p95Ms', before.p95_ms,
      'slowestMs', before.slowest_ms
    ),
    'during', json_build_object(
      'from', api.iso(from_at),
      'to', api.iso(to_at),
      'buckets', coalesce(during.buckets, 0),
      'answers', coalesce(during.answers, 0),
      'p50Ms', during.p50_ms,
      'p95Ms', during.p95_ms,
      'slowestMs', during.slowest_ms
    ),
    'regions', (
      select json_agg(
        json_build_object(
          'region', g.region,
          'beforeAnswers', coalesce(b.answers, 0),
          'beforeP50Ms', b.p50_ms,
          'answers', coalesce(d.answers, 0),
          'p50Ms', d.p50_ms,
          'p95Ms', d.p95_ms,
          'slowestMs', d.slowest_ms
        )
        order by g.position
      )
      from region g
      left join medians b on b.region_id = g.region_id and not b.during
      left join medians d on d.region_id = g.region_id and d.during
      where g.published or b.region_id is not null or d.region_id is not null
    )
  )
  from (
    select case c.kind when 'rest' then 'component' else 'venue-rest' end as source
    from component c
    where c.component_id = of_component
  ) s
  left join medians before on before.region_id is null and not before.during
  left join medians during on during.region_id is null and during.during
  where exists (select from medians);
end;

-- What else may belong to an incident, newest first: at its venue, incidents that started within six hours of it or
-- were open when it started; of its component, the nearest before and after; at other venues, those that started within
-- ten minutes of it, which suggests a common cause. The nearest ten of each.
create function api.related(of_incident bigint) returns json
language sql stable
begin atomic
  with this as materialized (
    select i.* from api.incident i where i.incident_id = of_incident
  ),
  others as materialized (
    select
      o.incident_id,
      o.component_id = t.component_id as same_component,
      o.venue_id = t.venue_id as same_venue,
      o.started_at < t.started_at and (o.closed_at > t.started_at or o.closed_at is null) as under_way,
      abs(extract(epoch from o.started_at - t.started_at)) as seconds_apart
    from this t
    join api.incident o on o.incident_id <> t.incident_id
    where o.started_at between t.started_at - interval '90 days' and t.started_at + interval '90 days'
  ),
  chosen as (
    (
      select o.incident_id from others o
      where o.same_venue and (o.under_way or o.seconds_apart <= 6 * 3600)
      order by o.seconds_apart, o.incident_id limit 10
    )
    union
    (
      select o.incident_id from others o
      where o.same_component
      order by o.seconds_apart, o.incident_id limit 10
    )
    union
    (
      select o.incident_id from others o
      where not o.same_venue and o.seconds_apart <= 600
      order by o.seconds_apart, o.incident_id limit 10
    )
  )
  select coalesce(json_agg(i.body order by i.started_at desc, i.incident_id desc), '[]')
  from chosen
  join api.incident i using (incident_id);
end;
