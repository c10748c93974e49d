-- Which incidents may the public see, and how are they written? Retracted ones and those of venues that are no longer
-- published never pass this view. `body` is the Incident object, the same wherever it appears.
create view api.incident as
select
  i.incident_id,
  i.slug,
  v.venue_id,
  v.venue,
  v.category,
  i.component_id,
  c.component,
  c.kind,
  i.severity,
  i.peak_severity,
  case when i.closed_at is null then 'open' else 'closed' end as status,
  -- as it is written, so that a cursor made of it loses nothing
  date_trunc('milliseconds', i.started_at) as started_at,
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
    'severity', i.severity,
    'peakSeverity', i.peak_severity,
    'status', case when i.closed_at is null then 'open' else 'closed' end,
    'startedAt', api.iso(i.started_at),
    'openedAt', api.iso(i.opened_at),
    'escalatedAt', api.iso(i.escalated_at),
    'lastBadAt', api.iso(i.last_bad_at),
    'closedAt', api.iso(i.closed_at),
    'durationSeconds', round(extract(epoch from i.closed_at - i.started_at)),
    'quorum', i.evidence -> 'opening' -> 'quorum',
    'reporting', i.evidence -> 'opening' -> 'reporting',
    'regions', coalesce(
      (
        select json_agg(vote ->> 'region')
        from jsonb_array_elements(i.evidence -> 'opening' -> 'votes') vote
        where vote ->> 'vote' in ('degraded', 'outage')
      ),
      '[]'
    ),
    -- the venue's own notice beside it; none is read yet
    'official', null
  ) as body
from incident i
join component c using (component_id)
join venue v using (venue_id)
where i.retracted_at is null and v.published;

-- What went wrong in a component between two instants, by the minute roll-up: {from, to, samples, bad, faults, regions}.
-- Counts are null where no minute is kept any more: not measured is not zero.
create function api.errors(of_component integer, from_at timestamptz, to_at timestamptz) returns json
language sql stable
begin atomic
  with minutes as (
    select m.*
    from sample_minute m
    where m.component_id = of_component
      and m.minute >= time_bucket('1 minute', from_at) and m.minute <= to_at
  ),
  faults as (
    select m.region_id, f.fault, sum(f.n)::int as n
    from minutes m
    cross join lateral (
      values
        ('dns', m.dns), ('connect', m.connect), ('tls', m.tls), ('timeout', m.timeout), ('http', m.http),
        ('blocked', m.blocked), ('limited', m.limited), ('body', m.body), ('handshake', m.handshake),
        ('closed', m.closed), ('stall', m.stall)
    ) as f (fault, n)
    where f.n > 0
    group by m.region_id, f.fault
  ),
  by_region as (
    select m.region_id, sum(m.samples)::int as samples, sum(m.samples - m.good)::int as bad
    from minutes m
    group by m.region_id
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
            'samples', b.samples,
            'bad', b.bad,
            'faults', coalesce(
              (select json_object_agg(f.fault, f.n order by f.n desc) from faults f where f.region_id = b.region_id),
              '{}'
            )
          )
          order by g.position
        )
        from by_region b
        join region g using (region_id)
      ),
      '[]'
    )
  );
end;

-- How slow was REST during an incident, against the day before it? For a stream, the venue's REST, said so. Null where
-- no latency was measured in the window.
create function api.incident_latency(of_component integer, from_at timestamptz, to_at timestamptz) returns json
language sql stable
begin atomic
  with measured as (
    select c.component_id, i.kind
    from component i
    join component c on c.component_id = i.component_id or (i.kind = 'ws' and c.venue_id = i.venue_id and c.kind = 'rest')
    where i.component_id = of_component and c.kind = 'rest'
  ),
  medians as (
    select
      percentile_cont(0.5) within group (order by m.p50_us) filter (where m.minute >= time_bucket('1 minute', from_at)) as during_p50,
      percentile_cont(0.5) within group (order by m.p95_us) filter (where m.minute >= time_bucket('1 minute', from_at)) as during_p95,
      percentile_cont(0.5) within group (order by m.p50_us) filter (where m.minute < time_bucket('1 minute', from_at)) as before_p50
    from sample_minute m
    join measured using (component_id)
    where m.minute >= from_at - interval '1 day' and m.minute <= to_at
  )
  select json_build_object(
    'source', case when (select kind from measured limit 1) = 'rest' then 'component' else 'venue-rest' end,
    'label', case
      when (select kind from measured limit 1) = 'rest' then 'Latency of this endpoint'
      else 'REST latency of the venue in the same window; a stream has no latency of its own'
    end,
    'p50Ms', api.whole_ms(m.during_p50),
    'p95Ms', api.whole_ms(m.during_p95),
    'beforeP50Ms', api.whole_ms(m.before_p50)
  )
  from medians m
  where m.during_p50 is not null;
end;

-- How our incidents compare with the venue's own notices. No notices are read yet, so all that would need one is null
-- and `observed` is false: not knowing is not the same as none.
create function api.detection(ours bigint, window_days integer) returns json
language sql stable
return json_build_object(
  'days', window_days,
  'observed', false,
  'ours', ours,
  'theirs', null,
  'paired', null,
  'oursOnly', null,
  'theirsOnly', null,
  'subjectMatched', false,
  'aheadUncorrelated', null
);
