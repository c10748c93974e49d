-- Have the outbox alone until the transaction ends, if nobody else has it. {held}. See expand_alerts.sql, which is to
-- be run after it.
--
-- Nobody waits for it: who does not get it has other alerts to send, and looks again soon.
select pg_try_advisory_xact_lock(hashtextextended('venuewatch.outbox', 0)) as held
