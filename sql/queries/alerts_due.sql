-- Is there anything to do for the dispatcher? {waiting, due_in_ms, timeline}: something waits in the outbox; in how
-- many milliseconds the next that is first in line of a channel may be sent, 0: now, null: nothing is in line; the
-- database's timeline. On a new timeline nothing leaves the outbox until what was lost is restored
-- (sql/engine/075-timeline.sql).
--
-- Asked once a second and more, nearly always in vain: claim_deliveries.sql, which asks the same under locks, takes ten
-- times as long to plan. Whatever that would claim is due here. Not all that is due here can be claimed: another core's
-- key may be needed for it.
select
  r.is_restored and exists (
    select from alert_event e where e.dispatched_at is null and e.dropped_at is null
  ) as waiting,
  current_timeline() as timeline,
  case when r.is_restored then (
    select greatest(0, extract(epoch from min(f.sendable_at) - clock_timestamp()))::float8 * 1000
    from engine.first_in_line() f
  ) end as due_in_ms
from timeline t
cross join lateral (select engine.is_restored(t) as is_restored) r
