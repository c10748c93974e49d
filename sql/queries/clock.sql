-- As of when does everything speak, and when did anything last move? One row {generated_at, moved_at}, cheap: it is asked
-- at every request. `moved_at` is when a state changed or an incident was opened, escalated or closed; null where nothing
-- ever did. What is held beyond its tick is held no longer than that.
select
  k.generated_at,
  greatest(
    (select max(s.since) from region_state s),
    (select max(s.since) from component_state s),
    (select e.at from alert_event e order by e.event_id desc limit 1)
  ) as moved_at
from api.clock k
