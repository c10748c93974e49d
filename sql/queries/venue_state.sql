-- Is this venue down, in the fewest bytes: the state of a venue and of its components, for programs that poll it.
--
-- $1 venue. One row {generated_at, body}, or none if the venue is not published. body: {generatedAt, stale, ageSeconds,
-- id, name, category, state, since, activeIncidents, components: [{component, state, since, fault, unknownBecause,
-- agreeing, counted, reporting, incident}]}. `incident` is the slug of the open one: a component has at most one.
--
-- row_to_json, because it writes no spaces around names: a tenth of the bytes of so small a body.
with voted as (
  select
    r.component_id,
    -- regions that see an outage also confirm that it is at least degraded, as in engine.by_quorum
    count(*) filter (
      where r.not_counted is null and (r.state = s.state or s.state = 'degraded' and r.state = 'outage')
    ) as agreeing,
    count(*) filter (where r.not_counted is null) as counted,
    count(*) filter (where r.reporting) as reporting
  from api.venue v
  join api.region_vote r using (venue_id)
  join api.component_state s using (component_id)
  where v.venue = $1
  group by r.component_id
),
open_incident as (
  select i.component_id, i.slug
  from api.venue v
  join api.incident i using (venue_id)
  where v.venue = $1 and i.closed_at is null
),
listed as (
  select json_agg(row_to_json(b) order by c.position) as components
  from api.venue v
  join api.component c using (venue_id)
  join api.component_state s using (component_id)
  left join voted n using (component_id)
  left join open_incident i using (component_id)
  cross join lateral (
    select
      c.component,
      s.state,
      api.iso(s.since) as since,
      case when s.state in ('degraded', 'outage') then api.present_fault(c.component_id) end as fault,
      case when s.unjudged is not null then api.unknown_because(c.component_id, s.unjudged) end as "unknownBecause",
      coalesce(n.agreeing, 0) as agreeing,
      coalesce(n.counted, 0) as counted,
      coalesce(n.reporting, 0) as reporting,
      i.slug as incident
  ) b
  where v.venue = $1
)
select
  k.generated_at,
  row_to_json(b)::text as body
from api.clock k
cross join api.venue v
cross join lateral (
  select
    api.iso(k.generated_at) as "generatedAt",
    -- set where the body is sent, because they depend on when that is
    false as stale,
    null::integer as "ageSeconds",
    null::text as "decidedAt",
    v.venue as id,
    v.name,
    v.category,
    v.state,
    api.iso(v.since) as since,
    (select count(*) from open_incident) as "activeIncidents",
    coalesce((select l.components from listed l), '[]') as components
) b
where v.venue = $1
