-- Retract an incident by hand, and drop its unsent alerts: $1 slug, $2 reason. {incident_id, was_open}, or no row if
-- there is none to retract.
--
-- Run it after locking the clock's row and the incident's events: ticks and dispatcher runs in progress have then
-- finished, and their results are visible. It is dated by the engine's clock, because it follows that tick: the engine
-- may be behind, and a replay repeats it there.
with retracted as (
  update incident i
  set retracted_at = k.ticked_at, retraction_reason = $2
  from engine_clock k
  where i.slug = $1 and i.retracted_at is null
  returning
    i.incident_id, i.component_id, i.slug, i.severity, i.started_at, i.retracted_at,
    i.closed_at is null as was_open
),
-- responses that showed the incident must have an earlier instant than those that do not
published_past_changed as (
  update engine_clock set revision = revision_after(ticked_at, revision, silent_after_ms, ticked_at)
  where exists (select from retracted)
),
noted as (
  insert into change_event (at, recorded_at, kind, venue_id, component_id, state, slug, started_at)
  select r.retracted_at, clock_timestamp(), 'retracted', c.venue_id, r.component_id, r.severity, r.slug, r.started_at
  from retracted r
  join component c using (component_id)
),
-- in the outbox
dropped_events as (
  update alert_event e
  set dropped_at = clock_timestamp()
  from retracted r
  where e.incident_id = r.incident_id and e.dispatched_at is null
),
-- Queued, and not yet being sent. A delivery that a dispatcher has begun to send may have arrived. A locked one is
-- being claimed, settled or ended at this moment; waiting for it could deadlock. The next claim finds the incident
-- retracted.
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
