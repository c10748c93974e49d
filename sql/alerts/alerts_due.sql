-- Whether the dispatcher has work (010-alerts-due.sql). {waiting, due_in_ms, timeline}: whether events wait
-- in the outbox; in how many milliseconds the next delivery may be sent (0: now, null: none is queued); the database's
-- timeline.
select waiting, due_in_ms, timeline from engine.alerts_due()
