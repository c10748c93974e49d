-- Maintenance in the venues' own feeds, newest start first.
--
-- $1 venue, $2 category: each null or set; $3 only what is under way or planned for the next 48 hours. One row
-- {generated_at, body}.
select
  k.generated_at,
  (
    select json_build_object(
      'generatedAt', api.iso(k.generated_at),
      'stale', false,
      'ageSeconds', null,
      'decidedAt', null,
      'maintenance', coalesce(json_agg(m.body order by m.started_at desc, m.notice_id desc, m.venue_id), '[]')
    )
    from api.maintenance_list($1::text, $2::text, $3::boolean) m
  )::text as body
from api.clock k
