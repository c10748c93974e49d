-- Is there anything to do for the dispatcher? {waiting, due, timeline}: something waits in the outbox; the first in line of some channel may be
-- sent; the database's timeline. On a new timeline nothing leaves the outbox until what was lost is restored (sql/engine/075-timeline.sql).
--
-- Asked four times a second, nearly always in vain: claim_deliveries.sql, which asks the same under locks, takes ten times as long to plan.
-- Whatever that would claim is due here. Not all that is due here can be claimed: another core's key may be needed for it.
with n as materialized (
  select clock_timestamp() as now
)
select
  r.is_restored and exists (
    select from alert_event e where e.dispatched_at is null and e.dropped_at is null
  ) as waiting,
  current_timeline() as timeline,
  r.is_restored and exists (select from n cross join engine.first_in_line(n.now)) as due
from timeline t
cross join lateral (select engine.is_restored(t) as is_restored) r
