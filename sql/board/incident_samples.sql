-- The raw samples of an incident's component around the incident, a page of them.
--
-- $1 slug; $2 limit; $3 after (a slot) and $4 afterRegion: each null or set. One row {generated_at, closed, body}, or
-- none if there is no such public incident, or none of its samples is kept any longer.
select
  s.generated_at,
  s.is_over as closed,
  json_build_object(
    'generatedAt', api.iso(s.generated_at),
    'stale', false,
    'ageSeconds', null,
    'decidedAt', null,
    'slug', s.slug,
    'venue', s.venue,
    'component', s.component,
    'from', api.iso(s.from_at),
    'to', api.iso(s.to_at),
    'keptFrom', api.iso(greatest(s.from_at, s.kept_from)),
    'samples', (
      select coalesce(json_agg(p.sample order by p.ts, p.region_id), '[]')
      from api.sample_page(
        s.component_id, greatest(s.from_at, s.kept_from), s.to_at, s.generated_at, $3::timestamptz,
        (select g.region_id from region g where g.region = $4::text), $2::int
      ) p
    )
  )::text as body
from api.incident_span s
where s.slug = $1 and s.to_at > s.kept_from
