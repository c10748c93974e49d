-- What waits to be told, and who is not told any more? One row; ages are null where nothing waits.
-- channels: [{format, state, channels}], of which `state` is on, operator, failures or gone.
select
  o.waiting as events_waiting,
  greatest(0, extract(epoch from n.now - o.oldest))::float8 as event_age_seconds,
  l.waiting as deliveries_waiting,
  greatest(0, extract(epoch from n.now - l.oldest))::float8 as delivery_age_seconds,
  c.channels
from (select clock_timestamp() as now) n
cross join (
  select count(*)::int as waiting, min(e.recorded_at) as oldest
  from alert_event e
  where e.dispatched_at is null and e.dropped_at is null
) o
cross join (
  select count(*)::int as waiting, min(d.created_at) as oldest
  from delivery d
  where d.state = 'due' and d.cause in ('event', 'open')
) l
cross join (
  select coalesce(jsonb_agg(jsonb_build_object('format', c.format, 'state', c.state, 'channels', c.channels)), '[]') as channels
  from (
    select c.format, coalesce(c.off_cause, 'on') as state, count(*)::int as channels
    from channel c
    where c.removed_at is null
    group by c.format, coalesce(c.off_cause, 'on')
  ) c
) c
