-- Whether the dispatcher has work: whether events wait in the outbox, or an incident has outlasted announced
-- maintenance; in how many milliseconds the next delivery of a channel may be sent (0: now, null: none is queued); the
-- database's timeline. On a new timeline nothing leaves the outbox until the lost history is restored
-- (sql/engine/075-after-promotion.sql).
--
-- Asked at least once a second, nearly always without result, so it is cheaper than engine.claim_deliveries, which asks
-- the same under locks. Everything that a claim would take is due here. The reverse is not true: a delivery may need
-- another core's key. PL/pgSQL, because a connection keeps its plan.
create function engine.alerts_due()
returns table (waiting boolean, timeline text, due_in_ms float8)
language plpgsql
as $$
#variable_conflict use_column
begin
  return query
  select
    r.is_restored and (
      exists (select from alert_event e where e.dispatched_at is null and e.dropped_at is null)
      or exists (select from engine.overrun_deliveries())
    ),
    current_timeline(),
    case when r.is_restored then (
      select greatest(0, extract(epoch from min(f.sendable_at) - clock_timestamp()))::float8 * 1000
      from engine.first_in_line() f
    ) end
  from timeline t
  cross join lateral (select engine.is_restored(t) as is_restored) r;
end;
$$;
