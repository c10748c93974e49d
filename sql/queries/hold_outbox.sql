-- Does anything wait in the outbox? It is for who asks alone then, until the transaction ends. {waiting}
--
-- Not for who finds it empty: that is how it is nearly always, and is to cost nothing.
select case
  when exists (select from alert_event e where e.dispatched_at is null and e.dropped_at is null)
    then pg_advisory_xact_lock(hashtextextended('venuewatch.outbox', 0)) is not null
  else false
end as waiting
