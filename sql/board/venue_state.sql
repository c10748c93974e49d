-- Is this venue down, in the fewest bytes: the state of a venue and of its components, for programs that poll it.
--
-- $1 venue; $2 region, whose view `state` and `since` are, those of components too; null: all regions together. One row
-- {generated_at, body}, or none if the venue is not published. body: {generatedAt, stale, ageSeconds, id, name,
-- category, state, since, activeIncidents, maintenance, components: [{component, state, since, fault, unknownBecause,
-- agreeing, counted, reporting, incident}], byQuorum, region, regions}. `incident` is the slug of the open one: a
-- component has at most one. `region` and `regions` are of api.venue_views: that of $2, and those that see it otherwise
-- than all together. Without $2, `byQuorum` and `region` are null.
--
-- row_to_json, because it writes no spaces around names: a tenth of the bytes of so small a body.
with asked as (
  select v.venue_id, g.region_id
  from api.venue v
  left join region g on g.region = $2 and g.published
  where v.venue = $1 and ($2::text is null or g.region_id is not null)
),
shown as (
  select
    s.component_id,
    s.state,
    s.since,
    case when s.state in ('degraded', 'outage') then api.present_fault(s.component_id) end as fault,
    case when s.unjudged is not null then api.unknown_because(s.component_id, s.unjudged) end as unknown_because
  from asked a
  join api.component_state s using (venue_id)
  where $2::text is null
  union all
  select
    r.component_id,
    r.state,
    r.since,
    r.fault,
    api.unseen_because(r.unknown_because, r.component_id, r.region_id, r.newest_at)
  from asked a
  join api.region_view r using (venue_id, region_id)
),
voted as (
  select
    r.component_id,
    count(*) filter (where r.not_counted is null and api.agrees(r.state, s.state)) as agreeing,
    count(*) filter (where r.not_counted is null) as counted,
    count(*) filter (where r.reporting) as reporting
  from asked a
  join api.region_vote r using (venue_id)
  join shown s using (component_id)
  group by r.component_id
),
open_incident as (
  select i.component_id, i.slug
  from asked a
  join api.incident i using (venue_id)
  where i.closed_at is null
),
listed as (
  select json_agg(row_to_json(b) order by c.position) as components
  from api.component c
  join shown s using (component_id)
  left join voted n using (component_id)
  left join open_incident i using (component_id)
  cross join lateral (
    select
      c.component,
      s.state,
      api.iso(s.since) as since,
      s.fault,
      s.unknown_because as "unknownBecause",
      coalesce(n.agreeing, 0) as agreeing,
      coalesce(n.counted, 0) as counted,
      coalesce(n.reporting, 0) as reporting,
      i.slug as incident
  ) b
),
views as materialized (
  select n.* from asked a, api.venue_views(a.venue_id) n
)
select
  k.generated_at,
  row_to_json(b)::text as body
from api.clock k
cross join asked a
join api.venue v using (venue_id)
left join views n using (region_id)
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
    coalesce(n.body ->> 'state', v.state::text) as state,
    coalesce(n.body ->> 'since', api.iso(v.since)) as since,
    (select count(*) from open_incident) as "activeIncidents",
    (select m.body from api.maintenance_now() m where m.venue_id = v.venue_id) as maintenance,
    coalesce((select l.components from listed l), '[]') as components,
    case when n.body is not null then json_build_object('state', v.state, 'since', api.iso(v.since)) end as "byQuorum",
    n.body as region,
    coalesce((select json_agg(w.body) from views w where w.is_apart), '[]') as regions
) b
