-- Queue what is open now for channel $1: {delivery_id} of each event that becomes due by this.
--
-- These are openings and escalations of incidents that are open and public. Skipped, failed or dropped deliveries
-- become due again; delivered or due ones are unchanged. Events that the dispatcher has yet to expand are left to it:
-- run this while alert_event is locked, so that no event is missed in between.
insert into delivery (channel_id, event_id, cause, state, created_at, due_at)
select c.channel_id, e.event_id, 'open', 'due', clock_timestamp(), clock_timestamp()
from channel c
cross join api.incident i
join alert_event e using (incident_id)
where c.channel_id = $1
  and i.status = 'open'
  and e.kind in ('opened', 'escalated')
  and (e.event_id <= c.after_event_id or e.dispatched_at is not null)
  and api.concerns(c.severity_floor, c.venues, c.categories, e.severity, i.venue, i.category)
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
