-- Retract an incident by hand, and drop its alerts that have not left: $1 slug, $2 reason. {incident_id, was_open}, or
-- no row where there is none to retract.
--
-- To be run after the clock's row was locked, and the incident's events: a tick and a dispatcher's look that were under
-- way have ended then, and what they left is seen here. It is dated by the engine's clock, since that is what it comes
-- after: the engine may be behind, and a replay does it there.
with retracted as (
  update incident i
  set retracted_at = k.ticked_at, retraction_reason = $2
  from engine_clock k
  where i.slug = $1 and i.retracted_at is null
  returning i.incident_id, i.closed_at is null as was_open
),
-- what showed it until now was of another instant
published_past_changed as (
  update engine_clock set revision = revision_after(ticked_at, revision, silent_after_ms, ticked_at)
  where exists (select from retracted)
),
-- in the outbox
dropped_events as (
  update alert_event e
  set dropped_at = clock_timestamp()
  from retracted r
  where e.incident_id = r.incident_id and e.dispatched_at is null
),
-- In line, and nobody has begun to send it. What somebody has begun to send may have arrived, and what somebody holds
-- is being claimed, settled or ended at this moment: to wait for it could be to wait for each other. The next claim
-- finds the incident retracted.
in_line as (
  select d.delivery_id
  from retracted r
  join alert_event e using (incident_id)
  join delivery d using (event_id)
  where d.state = 'due' and d.cause in ('event', 'open') and d.claimed_by is null
  for update of d skip locked
),
dropped as (
  update delivery d
  set state = 'dropped', reason = 'its incident was retracted', ended_at = clock_timestamp()
  from in_line
  where d.delivery_id = in_line.delivery_id
)
select incident_id, was_open from retracted
