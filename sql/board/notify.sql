-- Time from the first bad sample to a delivered alert: openings only, over all channels, in the last thirty UTC days,
-- today included. One row {generated_at, body}.
--
-- Which deliveries count was decided when they were delivered (settle_or_retry_deliveries.sql). Only later retractions
-- are checked here.
with counted as (
  select d.told_after_ms
  from api.clock k
  join delivery d
    on d.told_after_ms is not null
    and d.ended_at >= (k.today - 29)::timestamp at time zone 'UTC'
    and d.ended_at <= k.generated_at
  where not exists (
    select
    from alert_event e
    join incident i using (incident_id)
    where e.event_id = d.event_id and i.retracted_at is not null
  )
)
select
  k.generated_at,
  json_build_object(
    'generatedAt', api.iso(k.generated_at),
    'stale', false,
    'ageSeconds', null,
    'decidedAt', null,
    'days', 30,
    'deliveries', t.deliveries,
    'p50Ms', round(t.percentiles_ms[1]::numeric),
    'p95Ms', round(t.percentiles_ms[2]::numeric)
  )::text as body
from api.clock k
cross join (
  select
    count(*)::int as deliveries,
    -- both at once, so that they are sorted once
    percentile_cont(array[0.5, 0.95]) within group (order by d.told_after_ms) as percentiles_ms
  from counted d
) t
