-- Have the outbox alone until the transaction ends: whoever asks next waits. See expand_alerts.sql, which is to be run after it.
select pg_advisory_xact_lock(hashtextextended('venuewatch.outbox', 0))
