-- How each region sees each component of a venue now, and why a region's vote is not counted: the matrix on a venue's
-- page.
--
-- $1 venue. One row {generated_at, body}, or none if the venue is not published. body: {generatedAt, state, since,
-- regions: [{id, name}], components: [{component, kind, label, state, since, fault, unknownBecause, quorum, agreeing,
-- counted, cells}]}; in cells one {region, state, notCounted, samples, bad, slow, newestAt, newestFault} for each
-- region. notCounted as in api.region_vote.
with rows as (
  select
    c.position,
    json_build_object(
      'component', c.component,
      'kind', c.kind,
      'label', c.label,
      'state', s.state,
      'since', api.iso(s.since),
      'fault', case when s.state in ('degraded', 'outage') then api.present_fault(c.component_id) end,
      'unknownBecause', case when s.unjudged is not null then api.unknown_because(c.component_id, s.unjudged) end,
      'quorum', q.quorum,
      'agreeing', count(*) filter (where r.not_counted is null and api.agrees(r.state, s.state)),
      'counted', count(*) filter (where r.not_counted is null),
      'cells', json_agg(
        json_build_object(
          'region', r.region,
          'state', r.state,
          'notCounted', r.not_counted,
          'samples', case when r.reporting then n.samples end,
          'bad', case when r.reporting then n.bad end,
          'slow', case when r.reporting then n.slow end,
          'newestAt', api.iso(r.newest_at),
          'newestFault', r.newest_fault
        )
        order by r.position
      )
    ) as body
  from api.venue v
  join api.component c using (venue_id)
  join api.component_state s using (component_id)
  join api.region_vote r using (component_id)
  left join component_state q on q.component_id = c.component_id
  left join region_state n on n.component_id = c.component_id and n.region_id = r.region_id
  where v.venue = $1
  group by c.component_id, c.position, c.component, c.kind, c.label, s.state, s.since, s.unjudged, q.quorum
)
select
  k.generated_at,
  json_build_object(
    'generatedAt', api.iso(k.generated_at),
    'state', v.state,
    'since', api.iso(v.since),
    'regions', coalesce(
      (
        select json_agg(json_build_object('id', g.region, 'name', g.name) order by g.position)
        from region g
        where g.published
      ),
      '[]'
    ),
    'components', coalesce((select json_agg(r.body order by r.position) from rows r), '[]')
  )::text as body
from api.venue v
cross join api.clock k
where v.venue = $1
