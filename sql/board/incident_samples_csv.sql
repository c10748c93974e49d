-- The samples of incident_samples.sql as a table, in the same order.
--
-- $1–$4 as there; $5 address of the methodology page.
select
  api.iso(s.generated_at) as "generatedAt",
  api.iso(s.from_at) as "windowFrom",
  api.iso(s.to_at) as "windowTo",
  api.iso(greatest(s.from_at, s.kept_from)) as "windowKeptFrom",
  $5::text as "methodologyUrl",
  s.slug,
  s.venue,
  s.component,
  (p.sample).*
from api.incident_span s
cross join lateral api.sample_page(
  s.component_id, greatest(s.from_at, s.kept_from), s.to_at, s.generated_at, $3::timestamptz,
  (select g.region_id from region g where g.region = $4::text), $2::int
) p
where s.slug = $1 and s.to_at > s.kept_from
order by p.ts, p.region_id
