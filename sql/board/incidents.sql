-- The history of incidents, newest first.
--
-- $1 venue, $2 category, $3 status (open, closed, all), $4 days of the window, today included, $5 limit, $6 before
-- (startedAt), $7 beforeId: each null or set. One row {generated_at, body}.
select
  k.generated_at,
  (
    select json_build_object(
      'generatedAt', api.iso(k.generated_at),
      'stale', false,
      'ageSeconds', null,
      'decidedAt', null,
      'incidents', coalesce(json_agg(p.body order by p.started_at desc, p.incident_id desc), '[]')
    )
    from api.incident_page($1::text, $2::text, $3::text, $4::int, $5::int, $6::timestamptz, $7::bigint) p
  )::text as body
from api.clock k
