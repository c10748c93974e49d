-- How long from the first bad sample to a delivered alert? Nothing delivers yet: nothing was delivered, and of nothing
-- there is no median. One row {generated_at, body}.
select
  k.generated_at,
  json_build_object(
    'generatedAt', api.iso(k.generated_at),
    'days', 30,
    'deliveries', 0,
    'p50Ms', null,
    'p95Ms', null
  )::text as body
from api.clock k
