-- Tell channel $1 of what is open now: {delivery_id} of each event that is due for it by this.
--
-- Openings and escalations of incidents that are open and shown. What was skipped, given up or dropped is due again;
-- what was delivered or is due stays as it is. An event that the dispatcher has yet to expand for the channel is left
-- to it: to be run while alert_event is locked, so that nothing falls between the two.
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
