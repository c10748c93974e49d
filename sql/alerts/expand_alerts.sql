-- Turn events into deliveries: each event in the outbox, oldest first, becomes one delivery per channel that it
-- concerns, and leaves the outbox with that: both or neither.
--
-- $1 now, or null: by this database's clock; $2 approximate maximum number of deliveries. One row {events, deliveries,
-- skipped, dropped, more}.
--
-- Run it under hold_outbox.sql, one at a time: a concurrent run would expand later events by an older snapshot, without
-- the openings that the first has just queued, and would queue their closings for no channel.
with n as materialized (
  select coalesce($1::timestamptz, clock_timestamp()) as now
),
waiting as materialized (
  select e.event_id, e.incident_id, e.kind, e.severity, e.paused_event_id
  from alert_event e
  where e.dispatched_at is null and e.dropped_at is null
  order by e.event_id
  limit (select greatest(1, $2::int / greatest(1, count(*))) from channel c where c.removed_at is null)
  for update
),
-- retracted at this very moment
retracted as (
  select w.event_id from waiting w join incident i using (incident_id) where i.retracted_at is not null
),
-- once per event, as many channels get the same
maintained as materialized (
  select w.event_id
  from waiting w
  join incident i using (incident_id)
  join component p using (component_id)
  where w.kind <> 'closed'
    and api.maintenance_beside(p.venue_id, i.started_at, i.opened_at, i.last_bad_at) ->> 'overran' = 'false'
),
concerned as materialized (
  select
    w.event_id, w.incident_id, w.kind, w.paused_event_id, c.channel_id, c.off_at, c.off_cause,
    c.on_maintenance = 'quiet' and m.event_id is not null as is_quiet
  from waiting w
  join engine.alert_subject s using (event_id)
  left join maintained m using (event_id)
  join channel c
    on c.removed_at is null
    and c.after_event_id < w.event_id
    and api.concerns(c, w.severity, s.asset, s.venue, s.category)
  where (s.incident).retracted_at is null
),
-- Closings go to channels that got the opening, are due to get it, or to which sending was tried; also if an operator
-- replayed it. The ends of pauses of transfers go to channels that hear of the beginning, in the same
-- way.
recipients as (
  select t.*
  from concerned t
  where t.kind not in ('closed', 'transfer_resumed', 'transfer_unknown')
    or exists (
      select from concerned b
      where (b.incident_id = t.incident_id and b.kind <> 'closed' or b.event_id = t.paused_event_id)
        and b.channel_id = t.channel_id and b.off_at is null and not b.is_quiet
    )
    or exists (
      select
      from alert_event b
      join delivery d on d.event_id = b.event_id and d.channel_id = t.channel_id
      where (b.incident_id = t.incident_id and b.kind <> 'closed' or b.event_id = t.paused_event_id)
        and (d.state = 'due' or d.first_claimed_at is not null)
    )
),
added as (
  insert into delivery (channel_id, event_id, cause, state, reason, created_at, due_at, ended_at)
  select
    t.channel_id,
    t.event_id,
    'event',
    case when t.off_at is null and not t.is_quiet then 'due' else 'skipped' end,
    case when t.off_at is not null then 'the channel was off' when t.is_quiet then engine.quiet_reason() end,
    n.now,
    n.now,
    case when t.off_at is not null or t.is_quiet then n.now end
  from recipients t
  cross join n
  order by t.event_id, t.channel_id
  -- for an event restored after a failover, some channels already have the delivery (restore_sent.sql)
  on conflict do nothing
  returning state
),
dispatched as (
  update alert_event e
  set dispatched_at = case when r.event_id is null then n.now end,
    dropped_at = case when r.event_id is not null then n.now end
  from n, waiting w
  left join retracted r using (event_id)
  where e.event_id = w.event_id
)
select
  (select count(*)::int from waiting) as events,
  (select count(*)::int from added) as deliveries,
  (select count(*)::int from added where state = 'skipped') as skipped,
  (select count(*)::int from retracted) as dropped,
  exists (
    select from alert_event e
    where e.dispatched_at is null and e.dropped_at is null and e.event_id > (select max(w.event_id) from waiting w)
  ) as more
