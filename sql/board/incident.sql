-- One incident by its slug: what happened, the votes, what went wrong, and what else happened then. $1 slug. One row
-- {generated_at, closed, body}, or none if there is no such public incident.
select
  k.generated_at,
  i.closed_at is not null as closed,
  json_build_object(
    'generatedAt', api.iso(k.generated_at),
    'stale', false,
    'ageSeconds', null,
    'decidedAt', null,
    'incident', i.body,
    'venue', json_build_object('id', v.venue, 'name', v.name, 'symbol', v.symbol, 'quote', v.quote),
    'note',
    case when v.entry ? 'providers' then format(
      'It is the chain that stands, or went back: at none of the providers that we read (%s) has it had a new block, '
        'so none of them is at fault.',
      (
        select string_agg(p.id, ', ' order by p.place)
        from jsonb_array_elements_text(v.entry -> 'providers') with ordinality as p (id, place)
        -- what was read when it began
        where not exists (select from venue e where e.venue = p.id and e.ends_at <= i.started_at)
      )
    ) end,
    'component', json_build_object('id', c.component, 'kind', c.kind, 'label', c.label, 'target', c.target),
    'events', (
      -- from the incident's own columns: alert history expires, they do not
      select
        json_agg(json_build_object('kind', e.kind, 'at', api.iso(e.at), 'severity', e.severity) order by e.at, e.place)
      from (
        values
          (1, 'started', i.started_at, null),
          (2, 'opened', i.opened_at, case when i.escalated_at is null then i.peak_severity else 'degraded' end),
          (3, 'escalated', i.escalated_at, 'outage'),
          -- while it is open this moves with every tick
          (4, 'last-bad', case when i.closed_at is not null then i.last_bad_at end, null),
          (5, 'closed', i.closed_at, null)
      ) as e (place, kind, at, severity)
      where e.at is not null
    ),
    'evidence', api.shown_evidence(i.evidence, c.kind, i.opened_at, i.escalated_at, i.closed_at),
    -- the current value of the registry: decisions do not record it
    'stallThreshold',
    case when c.stall_basis is not null then json_build_object('afterMs', c.stall_after_ms, 'basis', c.stall_basis) end,
    -- up to the last bad sample: the hold would dilute the figures
    'errors', api.errors(i.component_id, i.started_at, i.last_bad_at),
    'latency', api.incident_latency(i.component_id, i.started_at, i.last_bad_at),
    'detection', api.incident_detection(i.incident_id),
    -- as far around it as a notice may be paired
    'official', api.official(v.venue_id, i.started_at - api.paired_within(), i.started_at + api.paired_within()),
    'related', api.related(i.incident_id),
    'beganAtOnce', api.began_at_once(i.venue_id, i.started_at)
  )::text as body
from api.incident i
join venue v using (venue_id)
join component c using (component_id)
cross join api.clock k
where i.slug = $1
