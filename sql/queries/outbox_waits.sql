-- Does anything wait in the outbox? {waiting}
select exists (
  select from alert_event e where e.dispatched_at is null and e.dropped_at is null
) as waiting
