-- What became of the alerts of incident $1? Rows {kind, droppedUnsent, delivered, underWay, dropped}, in the order in
-- which things happened: whether it was dropped in the outbox, before it stood in line for any channel; and to how many
-- channels it was delivered, is on its way or was dropped.
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
