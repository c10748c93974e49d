-- The state of everything for Prometheus, in its text format, version 0.0.4: the instant of the answer, that of the
-- newest decision, five families with every published component in each, without venues that have ended, and one of
-- what the venues declare about deposits and withdrawals. One row {generated_at, body}.
with component as materialized (
  select
    c.component_id,
    c.kind,
    c.venue_position,
    c.position,
    format('venue="%s",component="%s"', api.label_value(c.venue), api.label_value(c.component)) as labels,
    format('venue="%s",endpoint="%s"', api.label_value(c.venue), api.label_value(c.name)) as endpoint_labels
  from api.component c
  join api.venue v using (venue_id)
  where not v.has_ended
),
seen_from as materialized (
  select g.region_id, g.position, format('region="%s"', api.label_value(g.region)) as label
  from region g
  where g.published
),
latency as materialized (
  select m.component_id, m.region_id, m.answers, m.p50_us, m.p95_us from api.newest_minute m
),
-- `place` orders series within a component, so that bodies of one tick are identical byte by byte
series as (
  select
    'svc_component_state' as family,
    c.component_id,
    array[0] as place,
    c.labels,
    api.state_number(s.state)::text as value
  from component c
  join api.component_state s using (component_id)
  union all
  select
    'svc_component_state_region',
    c.component_id,
    array[g.position],
    c.labels || ',' || g.label,
    api.state_number(s.state)::text
  from component c
  join api.region_state s using (component_id)
  join seen_from g using (region_id)
  union all
  -- the only family that omits series: a missing value means not measured, or too few answers; 0 would claim an instant
  -- answer
  select
    'svc_latency_seconds',
    c.component_id,
    array[g.position, p.percentile],
    format('%s,%s,percentile="%s"', c.endpoint_labels, g.label, p.percentile),
    trim_scale(p.us / 1000000.0)::text
  from component c
  join latency m using (component_id)
  join seen_from g using (region_id)
  cross join lateral (
    values (50, m.p50_us, api.p50_min_answers()), (95, m.p95_us, api.p95_min_answers())
  ) as p (percentile, us, least_answers)
  where m.answers >= p.least_answers
  union all
  select
    'svc_latency_samples',
    c.component_id,
    array[g.position],
    format('%s,%s', c.endpoint_labels, g.label),
    coalesce(m.answers, 0)::text
  from component c
  cross join seen_from g
  left join latency m using (component_id, region_id)
  where c.kind = 'rest'
  union all
  -- retracted incidents never pass api.incident, so they read 0
  select
    'svc_incident_open',
    c.component_id,
    array[n.place],
    format('%s,severity="%s"', c.labels, n.severity),
    (case when i.severity is null then 0 else 1 end)::text
  from component c
  cross join (values (1, 'degraded'::state), (2, 'outage'::state)) as n (place, severity)
  left join api.incident i on i.component_id = c.component_id and i.severity = n.severity and i.closed_at is null
),
family (place, name, help) as (
  values
    (
      1, 'svc_component_state',
      'State of a component by the quorum of regions: 0 operational, 1 degraded, 2 outage, 3 unknown.'
    ),
    (
      2, 'svc_component_state_region',
      'State of a component as one region sees it: 0 operational, 1 degraded, 2 outage, 3 unknown.'
    ),
    (
      3, 'svc_latency_seconds',
      'Percentile of the latency of good answers in the most recent complete minute, '
      'of one REST endpoint seen from one region.'
    ),
    (
      4, 'svc_latency_samples',
      'Number of good answers in that minute, from which the percentiles are computed.'
    ),
    (
      5, 'svc_incident_open',
      '1 while an incident of that severity is open, otherwise 0.'
    )
),
written as (
  select
    f.place,
    format(E'# HELP %1$s %2$s\n# TYPE %1$s gauge\n', f.name, f.help)
      || coalesce(
        string_agg(
          format(E'%s{%s} %s\n', f.name, s.labels, s.value), ''
          order by c.venue_position, c.position, c.component_id, s.place
        ) filter (where s.family is not null),
        ''
      ) as text
  from family f
  left join (series s join component c using (component_id)) on s.family = f.name
  group by f.place, f.name, f.help
),
-- What is unknown is omitted: 0 would claim a pause. Of two networks of one name, one that is open counts.
transfers as (
  select
    min(s.place * 1000 + a.position) as place,
    format(
      'venue="%s",asset="%s",network="%s",direction="%s"',
      api.label_value(s.venue), api.label_value(l.asset),
      api.label_value(coalesce(n.network, l.venue_network, '')), t.direction
    ) as labels,
    max(case t.state when 'open' then 1 else 0 end) as value
  from api.clock k
  cross join api.transfer_sources(k.generated_at) s
  join transfer_line l using (venue_id)
  join transfer_state t using (line_id)
  join transfer_asset a using (asset)
  left join transfer_network n on n.network = l.network and n.published
  where s.fresh and a.published and t.state <> 'unknown'
  group by 2
)
select
  k.generated_at,
  format(
    E'# HELP svc_generated_at_seconds The instant that all of this shows, in seconds since 1970.\n'
      '# TYPE svc_generated_at_seconds gauge\n'
      'svc_generated_at_seconds %s\n',
    trim_scale(extract(epoch from k.generated_at))
  ) || case
    when k.ticked_at is null then ''
    else format(
      E'# HELP svc_decided_at_seconds The newest instant that the engine has decided, in seconds since 1970.\n'
        '# TYPE svc_decided_at_seconds gauge\n'
        'svc_decided_at_seconds %s\n',
      trim_scale(extract(epoch from k.ticked_at))
    )
  end || (select string_agg(w.text, '' order by w.place) from written w)
  || E'# HELP svc_transfer_state What the venue declares of deposits or withdrawals: '
    '1 open, 0 paused; absent: unknown.\n# TYPE svc_transfer_state gauge\n'
  || (
    select coalesce(
      string_agg(format(E'svc_transfer_state{%s} %s\n', t.labels, t.value), '' order by t.place, t.labels), ''
    )
    from transfers t
  ) as body
from api.clock k
