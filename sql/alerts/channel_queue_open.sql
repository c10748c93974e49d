-- Queue what is open now for channel $1: {delivery_id} of each event that becomes due by this.
--
-- These are openings and escalations of incidents that are open and public, and pauses of transfers whose end no alert
-- has told. Skipped, failed or dropped deliveries
-- become due again; delivered or due ones are unchanged. Events that the dispatcher has yet to expand are left to it:
-- run this while alert_event is locked, so that no event is missed in between.
insert into delivery (channel_id, event_id, cause, state, created_at, due_at)
select c.channel_id, e.event_id, 'open', 'due', clock_timestamp(), clock_timestamp()
from channel c
cross join (
  select e.event_id, e.dispatched_at, e.severity, null as asset, i.venue, i.category
  from api.incident i
  join alert_event e using (incident_id)
  where i.status = 'open' and e.kind in ('opened', 'escalated')
  union all
  select e.event_id, e.dispatched_at, e.severity, s.asset, s.venue, s.category
  from transfer_state t
  join alert_event e on e.event_id = t.paused_event_id
  join engine.alert_subject s on s.event_id = t.paused_event_id
  where t.state = 'paused' and s.published
) e
where c.channel_id = $1
  and (e.event_id <= c.after_event_id or e.dispatched_at is not null)
  and api.concerns(c, e.severity, e.asset, e.venue, e.category)
order by e.event_id
on conflict (channel_id, event_id) where cause in ('event', 'open') do update
set
  cause = excluded.cause,
  state = excluded.state,
  reason = null,
  created_at = excluded.created_at,
  due_at = excluded.due_at,
  claimed_by = null,
  claimed_until = null,
  failures = 0,
  ended_at = null
where delivery.state in ('failed', 'skipped', 'dropped')
returning delivery_id
