-- How long did it take from the first bad sample to a delivered alert? Of openings alone, over all channels, in the UTC days of the
-- last thirty, today included. One row {generated_at, body}.
--
-- Not counted: retracted incidents; what an operator asked for (replays, tests, what was open already when a channel began);
-- deliveries that were not answered with 2xx in time; and backfills, events that waited for more than an hour in the
-- outbox until anybody claimed a delivery of them: they tell how long we were away, and nothing of how soon alerts come.
with delivered as (
  select extract(epoch from d.ended_at - i.started_at) * 1000 as took_ms
  from api.clock k
  join delivery d
    on d.state = 'delivered' and d.cause = 'event'
    and d.ended_at >= (k.today - 29)::timestamp at time zone 'UTC'
    and d.ended_at <= k.generated_at
  join alert_event e using (event_id)
  join incident i using (incident_id)
  where e.kind = 'opened'
    and i.retracted_at is null
    and (
      select min(f.first_claimed_at) from delivery f where f.event_id = e.event_id and f.cause = 'event'
    ) <= e.recorded_at + interval '1 hour'
)
select
  k.generated_at,
  json_build_object(
    'generatedAt', api.iso(k.generated_at),
    'days', 30,
    'deliveries', t.deliveries,
    'p50Ms', t.p50_ms,
    'p95Ms', t.p95_ms
  )::text as body
from api.clock k
cross join (
  select
    count(*)::int as deliveries,
    round(percentile_cont(0.5) within group (order by d.took_ms)) as p50_ms,
    round(percentile_cont(0.95) within group (order by d.took_ms)) as p95_ms
  from delivered d
) t
