-- How each region sees each component of a venue now, and why a region's vote is not counted: the matrix on a venue's
-- page.
--
-- $1 venue. One row {generated_at, body}, or none if the venue is not published. body: {generatedAt, state, since,
-- regions: [{id, name}], components: [{component, kind, label, state, since, quorum, cells}]}; in cells one {region,
-- state, notCounted, samples, bad, slow, newestAt, newestFault} for each region. notCounted: engine (it decides nothing
-- at present), impaired, outlier, never (no sample is known), late (the newest is too old), or null.
with impaired as (
  -- as at the newest tick; a region still has no vote at the instant at which its own impairment ends
  select distinct i.region_id
  from impairment i
  cross join api.clock k
  where i.started_at <= k.ticked_at and i.recognised_at <= k.ticked_at
    and (i.ended_at is null or i.ended_at > k.ticked_at or i.ended_at = k.ticked_at and not i.seen_elsewhere)
),
outliers as (
  select o.component_id, o.region_id
  from outlier o
  cross join api.clock k
  where o.started_at <= k.ticked_at and coalesce(o.ended_at, 'infinity') > k.ticked_at
),
rows as (
  select
    c.position,
    json_build_object(
      'component', c.component,
      'kind', c.kind,
      'label', c.label,
      'state', s.state,
      'since', api.iso(s.since),
      'quorum', q.quorum,
      'cells', json_agg(
        json_build_object(
          'region', g.region,
          'state', r.state,
          'notCounted', case
            when not k.engine_fresh then 'engine'
            when i.region_id is not null then 'impaired'
            when r.newest_at is null then 'never'
            when not r.reporting then 'late'
            when o.region_id is not null then 'outlier'
          end,
          'samples', case when r.reporting then n.samples end,
          'bad', case when r.reporting then n.bad end,
          'slow', case when r.reporting then n.slow end,
          'newestAt', api.iso(r.newest_at),
          'newestFault', r.newest_fault
        )
        order by g.position
      )
    ) as body
  from api.venue v
  join api.component c using (venue_id)
  join api.component_state s using (component_id)
  join api.region_state r using (component_id)
  join region g using (region_id)
  cross join api.clock k
  left join component_state q on q.component_id = c.component_id
  left join region_state n on n.component_id = c.component_id and n.region_id = r.region_id
  left join impaired i on i.region_id = r.region_id
  left join outliers o on o.component_id = c.component_id and o.region_id = r.region_id
  where v.venue = $1
  group by c.component_id, c.position, c.component, c.kind, c.label, s.state, s.since, q.quorum
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
