-- The results of the alerts of incident $1. Rows {kind, droppedUnsent, delivered, underWay, dropped}, in the order of
-- events: whether it was dropped in the outbox, before it was queued for any channel; and the number of channels to
-- which it was delivered, is being sent, or was dropped.
select
  e.kind,
  e.dropped_at is not null as "droppedUnsent",
  count(distinct d.channel_id) filter (where d.state = 'delivered')::int as delivered,
  count(distinct d.channel_id) filter (where d.state = 'due')::int as "underWay",
  count(distinct d.channel_id) filter (where d.state = 'dropped')::int as dropped
from alert_event e
left join delivery d using (event_id)
where e.incident_id = $1
group by e.event_id
order by e.event_id
