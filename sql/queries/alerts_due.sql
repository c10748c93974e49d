-- Is there anything to do for the dispatcher? {waiting, due, timeline}: something waits in the outbox; the first in line of some channel may be
-- sent; the database's timeline. On a new timeline nothing leaves the outbox until what was lost is restored (sql/engine/075-timeline.sql).
--
-- Asked four times a second, nearly always in vain: claim_deliveries.sql, which asks the same under locks, takes ten times as long to plan.
-- Whatever that would claim is due here. Not all that is due here can be claimed: another core's key may be needed for it.
with n as materialized (
  select clock_timestamp() as now
)
select
  t.timeline = current_timeline()
  and t.adopted_at <= clock_timestamp() - engine.restoring_lasts()
  and exists (
    select from alert_event e where e.dispatched_at is null and e.dropped_at is null
  ) as waiting,
  current_timeline() as timeline,
  exists (
    select
    from n
    cross join channel c
    cross join lateral (
      select d.due_at, d.claimed_until
      from delivery d
      where d.channel_id = c.channel_id and d.state = 'due' and d.cause in ('event', 'open')
      order by d.event_id
      limit 1
    ) f
    where c.removed_at is null and c.off_at is null and c.free_at <= n.now
      and f.due_at <= n.now
      and (f.claimed_until is null or f.claimed_until <= n.now)
  ) as due
from timeline t
