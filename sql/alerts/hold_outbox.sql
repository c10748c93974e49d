-- Lock the outbox until the transaction ends, unless another dispatcher has it. {held}. Run expand_alerts.sql after it.
--
-- Never waits: a dispatcher that does not get it has other alerts to send, and tries again soon.
select pg_try_advisory_xact_lock(hashtextextended('venuewatch.outbox', 0)) as held
