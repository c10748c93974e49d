-- Retract an incident by hand, and drop its alerts that have not left: $1 slug, $2 reason. {incident_id, was_open}, or no row
-- where there is none to retract.
--
-- To be run after the clock's row was locked: a tick that was under way has ended then, and its alerts are seen here. It is
-- dated by the engine's clock, since that is what it comes after: the engine may be behind, and a replay does it there.
with retracted as (
  update incident i
  set retracted_at = k.ticked_at, retraction_reason = $2
  from engine_clock k
  where i.slug = $1 and i.retracted_at is null
  returning i.incident_id, i.closed_at is null as was_open
),
dropped as (
  update alert_event e
  set dropped_at = clock_timestamp()
  from retracted r
  where e.incident_id = r.incident_id and e.dispatched_at is null
)
select incident_id, was_open from retracted
