-- The instant that every answer describes, and when anything last changed. One row {generated_at, moved_at, read_at,
-- ticked_at, starting}: cheap, because every request asks it. `ticked_at` is the engine's last tick, null before the
-- first: while the engine is silent, `generated_at` moves on without it. `moved_at` is the last state change or the
-- last opening, escalation, closing or retraction of an incident; null if there never was one. A body kept beyond its
-- tick is dropped when this moves.
--
-- An operator's retraction is dated by the last tick, but is made after it. Bodies of that tick, and of changes since,
-- may have been made before the retraction although their instants are not earlier. So two seconds are added to its
-- date.
--
-- While the service is `starting`, nothing was decided yet but a history that is being written.
select
  k.generated_at,
  greatest(
    (select max(s.since) from region_state s),
    (select max(s.since) from component_state s),
    (select e.at from alert_event e where e.incident_id is not null order by e.event_id desc limit 1),
    (select max(i.retracted_at) + interval '2 seconds' from incident i where i.retracted_at is not null)
  ) as moved_at,
  now() as read_at,
  k.ticked_at,
  not exists (select from engine_clock e where not e.is_history) as starting
from api.clock k
