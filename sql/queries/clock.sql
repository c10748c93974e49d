-- As of when does everything speak, and when did anything last move? One row {generated_at, moved_at, read_at}, cheap:
-- it is asked at every request. `moved_at` is when a state changed or an incident was opened, escalated, closed or
-- retracted; null where nothing ever was. What is held beyond its tick is held no longer than that.
--
-- What an operator takes back is dated by the tick after which he does it; bodies of that tick, and of what has changed
-- since, came before.
select
  k.generated_at,
  greatest(
    (select max(s.since) from region_state s),
    (select max(s.since) from component_state s),
    (select e.at from alert_event e order by e.event_id desc limit 1),
    (select max(i.retracted_at) + interval '2 seconds' from incident i where i.retracted_at is not null)
  ) as moved_at,
  now() as read_at
from api.clock k
