-- The components of a venue, with their states by quorum and as seen from one region.
create function api.seen_components(of_venue smallint, of_region smallint)
returns table (
  component_id   integer,
  kind           text,
  component      text,
  name           text,
  label          text,
  target         text,
  cadence_ms     integer,
  stall_after_ms integer,
  "position"     integer,
  state          state,
  since          timestamptz,
  unjudged       text,
  region_state   state,
  newest_at      timestamptz,
  newest_fault   fault
)
language sql stable
as $$
  select
    c.component_id, c.kind, c.component, c.name, c.label, c.target, c.cadence_ms, c.stall_after_ms, c.position,
    s.state, s.since, s.unjudged, coalesce(g.state, 'unknown'), g.newest_at, g.newest_fault
  from api.component c
  join api.component_state s using (component_id)
  left join api.region_state g on g.component_id = c.component_id and g.region_id = of_region
  where c.venue_id = of_venue
$$;

-- The endpoints of a venue's page, as seen from one region.
create function api.venue_endpoints(
  of_venue smallint, of_chain text, of_region smallint, at timestamptz, figures api.figures[]
)
returns json
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  rest integer[] := array(select c.component_id from api.component c where c.venue_id = of_venue and c.kind = 'rest');
begin
  return (
    -- each endpoint separately, so that the search stops at the first match
    with certificates as (
      select c.component_id, n.expires_at
      from unnest(rest) as c (component_id)
      cross join lateral (
        select s.certificate_expires_at as expires_at
        from sample s
        where s.component_id = c.component_id
          and s.region_id = of_region
          and s.certificate_expires_at is not null
          and s.ts > at - interval '1 day' and s.ts <= at
          and api.known_by(at, s.ts, s.received_after_s)
          and s.ts > now() - interval '2 days'
        order by s.ts desc
        limit 1
      ) n
    ),
    lag as (
      select l.* from api.chain_lag(of_chain, rest, of_region, at) l where of_chain is not null
    )
    select coalesce(
      json_agg(
        json_build_object(
          'component', c.component,
          'name', c.name,
          'label', c.label,
          'target', c.target,
          'cadenceMs', c.cadence_ms,
          'state', c.state,
          'since', api.iso(c.since),
          'fault', case when c.state in ('degraded', 'outage') then api.present_fault(c.component_id) end,
          'unknownBecause', case when c.unjudged is not null then api.unknown_because(c.component_id, c.unjudged) end,
          'regionState', c.region_state,
          'samples', coalesce(m.samples, 0),
          'goodPct', trunc(100.0 * m.good / nullif(m.samples, 0), 3),
          'answers', coalesce(m.answers, 0),
          'p50Ms', m.p50_ms,
          'p95Ms', m.p95_ms,
          'newestAt', api.iso(c.newest_at),
          'newestFault', c.newest_fault,
          'certificateExpiresAt', api.iso(x.expires_at),
          'lag', case when n.component_id is not null then api.lag_body(
            n.head, n.freshest_head, n.head_at, n.backwards
          ) end
        )
        order by c.position
      ),
      '[]'
    )
    from api.seen_components(of_venue, of_region) c
    left join unnest(figures) m using (component_id)
    left join certificates x using (component_id)
    left join lag n using (component_id)
    where c.kind = 'rest'
  );
end;
$$;

-- The regions of a venue's page, compared over its range.
create function api.venue_regions(of_venue smallint, figures api.figures[]) returns json
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return (
    select json_agg(
      json_build_object(
        'region', g.region,
        'name', g.name,
        'reporting', coalesce(r.reporting, false),
        'impaired', g.impaired_since is not null,
        -- what an impaired region measures is shown, although it is no view
        'state', case
          when g.impaired_since is not null then to_json(coalesce(r.state, 'unknown'))
          else v.body -> 'state'
        end,
        'samples', coalesce(h.samples, 0),
        'goodPct', trunc(100.0 * h.good / nullif(h.samples, 0), 3),
        'answers', coalesce(h.answers, 0),
        'p50Ms', h.p50_ms,
        'p95Ms', h.p95_ms,
        'newestAt', api.iso(r.newest_at),
        'view', v.body
      )
      order by g.position
    )
    from api.region g
    join api.venue_views(of_venue) v using (region_id)
    left join (
      select
        s.region_id,
        bool_or(s.reporting) as reporting,
        max(s.newest_at) as newest_at,
        api.worst(
          count(*),
          count(*) filter (where s.state <> 'unknown'),
          count(*) filter (where s.state = 'outage'),
          count(*) filter (where s.state in ('degraded', 'outage'))
        ) as state
      from api.region_state s
      join component c using (component_id)
      cross join api.clock k
      where s.venue_id = of_venue and (c.ends_at <= k.generated_at) is not true
      group by s.region_id
    ) r using (region_id)
    left join unnest(figures) h using (region_id)
  );
end;
$$;

-- The heads that a chain's providers named last, as seen from one region: {venue, name, state, component, lag}, a row
-- for each endpoint that named one within a day, and one with nulls for a provider without any.
create function api.chain_heads(of_chain text, providers jsonb, of_region smallint, at timestamptz) returns json
language sql stable
as $$
  with provider as (
    select v.venue_id, v.venue, v.name, v.state, v.position
    from api.venue v
    where v.chain = of_chain and providers ? v.venue and not v.has_ended
  ),
  lag as materialized (
    select c.venue_id, c.component, c.position, api.lag_body(l.head, l.freshest_head, l.head_at, l.backwards) as body
    from api.chain_lag(
      of_chain,
      array(select c.component_id from api.component c join provider using (venue_id) where c.kind = 'rest'),
      of_region,
      at
    ) l
    join api.component c using (component_id)
  )
  select coalesce(
    json_agg(
      json_build_object('venue', p.venue, 'name', p.name, 'state', p.state, 'component', l.component, 'lag', l.body)
      order by p.position, l.position
    ),
    '[]'
  )
  from provider p
  left join lag l using (venue_id)
$$;

-- The chain that a venue reads, which is a venue itself if at least two providers are read; else null. The first
-- condition is for plans: most venues read none. Its heads only for the chain itself.
create function api.chain_read(of_chain text, of_venue smallint, of_region smallint, at timestamptz) returns json
language sql stable
return case when of_chain is not null then (
  select json_build_object(
    'venue', c.venue,
    'name', c.name,
    'state', c.state,
    'since', api.iso(c.since),
    'providers', (
      select coalesce(jsonb_agg(p.id order by p.place), '[]')
      from jsonb_array_elements_text(c.entry -> 'providers') with ordinality as p (id, place)
      where not exists (select from venue v where v.venue = p.id and v.ends_at <= chain_read.at)
    ),
    'heads', case
      when c.venue_id = of_venue then api.chain_heads(of_chain, c.entry -> 'providers', of_region, at)
    end,
    'standsSince', api.iso(i.started_at),
    'incident', i.slug
  )
  from api.venue c
  left join api.incident i on i.venue_id = c.venue_id and i.closed_at is null
  where c.chain = of_chain and c.entry ? 'providers'
) end;

-- What the registry says of a venue's entry (column venue.entry): every field is there, null where the entry lacks it.
create function api.entry_body(entry jsonb) returns json
language sql immutable parallel safe
return json_build_object(
  'sources', entry -> 'sources',
  'checkedAt', entry -> 'checkedAt',
  'until', case when entry ? 'until' then json_build_object(
    'date', entry -> 'until' -> 'date',
    'what', entry -> 'until' -> 'what',
    'source', entry -> 'until' -> 'source',
    'components', entry -> 'until' -> 'components'
  ) end,
  'endedAt', case when entry ? 'endedAt' then json_build_object(
    'date', entry -> 'endedAt' -> 'date',
    'what', entry -> 'endedAt' -> 'what',
    'source', entry -> 'endedAt' -> 'source'
  ) end,
  'limits', (
    select json_agg(
      json_build_object(
        'origin', l.one -> 'origin',
        'requests', l.one -> 'requests',
        'periodMs', l.one -> 'periodMs',
        'per', l.one -> 'per',
        'endpoints', l.one -> 'endpoints',
        'source', l.one -> 'source'
      )
      order by l.place
    )
    from jsonb_array_elements(entry -> 'limits') with ordinality as l (one, place)
  ),
  'blockedIn', case when entry ? 'blockedIn' then json_build_object(
    'countries', entry -> 'blockedIn' -> 'countries',
    'source', entry -> 'blockedIn' -> 'source'
  ) end,
  'edgeCacheMs', entry -> 'edgeCacheMs'
);

-- One venue in detail: one row, or none if the venue is not published. `only_range` is 24h (buckets of a minute) or 7d
-- (of an hour); `only_region` applies to the latency chart, the endpoints and the streams.
--
-- plpgsql, because its plan is cached, as api.board's is. The functions of its parts keep theirs.
create function api.venue_page(only_venue text, only_range text, only_region text)
returns table (generated_at timestamptz, body text)
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  with chosen as materialized (
    select v.* from api.venue v where v.venue = only_venue
  ),
  snapshot as materialized (
    select
      k.generated_at,
      k.today,
      (select region_id from region where region = only_region) as region_id,
      s as span
    from api.clock k, chosen v, api.page_span(v.venue_id, only_range) s
  ),
  latency as materialized (
    select l.* from chosen v, snapshot w, api.venue_latency(v.venue_id, w.region_id, w.span) l
  ),
  days as (
    select json_agg(
      api.uptime_day(
        d.day, d.scheduled_minutes, d.measured_minutes, d.down_minutes, d.degraded_minutes, d.incidents,
        d.maintenance_minutes, d.maintenance_measured_minutes, d.maintenance_down_minutes
      )
      order by d.day
    ) as days
    from api.days(90, array(select venue_id from chosen)) d
  ),
  recent as (
    select coalesce(json_agg(r.body order by r.started_at desc, r.incident_id desc), '[]') as incidents
    from (
      select i.*
      from api.incident i
      join chosen using (venue_id)
      order by i.started_at desc, i.incident_id desc
      limit 50
    ) r
  )
  select
    w.generated_at,
    (
      select json_build_object(
        'generatedAt', api.iso(w.generated_at),
        'stale', false,
        'ageSeconds', null,
        'decidedAt', null,
        'exchange', json_build_object(
          'id', v.venue, 'name', v.name, 'category', v.category, 'symbol', v.symbol, 'quote', v.quote
        ),
        'entry', api.entry_body(v.entry),
        'chain', api.chain_read(v.chain, v.venue_id, w.region_id, w.generated_at),
        'state', v.state,
        'since', api.iso(v.since),
        'maintenance', (select m.body from api.maintenance_now() m where m.venue_id = v.venue_id),
        'maintenanceAhead', (
          select coalesce(json_agg(m.body order by m.started_at, m.notice_id), '[]')
          from api.maintenance_list(v.venue, null, true) m
        ),
        'uptimePct90d', (r.uptime)."uptimePct",
        'measuredMinutes', (r.uptime)."measuredMinutes",
        'scheduledMinutes', (r.uptime)."scheduledMinutes",
        'coveragePct', (r.uptime)."coveragePct",
        'uptimePctLow', (r.uptime)."uptimePctLow",
        'uptimePctHigh', (r.uptime)."uptimePctHigh",
        'withoutMaintenance', r.without_maintenance,
        'typicalMs', t.p50_ms,
        'typicalMinutes', coalesce(t.minutes, 0),
        'typicalAsOf', api.iso(t.holds_from),
        'days', d.days,
        'latency', json_build_object(
          'range', only_range,
          'bucketMs', (extract(epoch from (w.span).bucket) * 1000)::int,
          'points', l.points
        ),
        'endpoints', api.venue_endpoints(v.venue_id, v.chain, w.region_id, w.generated_at, l.figures),
        'streams', api.venue_streams(v.venue_id, w.region_id, w.span),
        'regions', json_build_object('selected', only_region, 'compare', api.venue_regions(v.venue_id, l.figures)),
        'incidents', i.incidents,
        'incidentPatterns', api.incident_patterns(90, v.venue_id),
        -- including the future: maintenance is announced before it starts
        'official', api.official(v.venue_id, (w.today - 89)::timestamp at time zone 'UTC', 'infinity'),
        'detection', n.body,
        'summary', r.body,
        'excluded', api.excluded(90)
      )
      from latency l, days d, recent i,
        api.detection(90, array(select venue_id from chosen)) n,
        api.reliability(90, array(select venue_id from chosen)) r
      left join api.typical t using (venue_id)
      where r.venue_id is not null and n.venue_id is not null
    )::text as body
  from snapshot w, chosen v;
end;
$$;
