-- Does anything wait in the outbox, and may it leave? {waiting, timeline}: on a new timeline nothing leaves until what was lost is
-- restored (sql/engine/075-timeline.sql).
select
  t.timeline = current_timeline()
  and t.adopted_at <= clock_timestamp() - engine.restoring_lasts()
  and exists (
    select from alert_event e where e.dispatched_at is null and e.dropped_at is null
  ) as waiting,
  current_timeline() as timeline
from timeline t
