-- Decide one instant: $1 the instant, $2 the time of deciding or null for now, $3 the rules as JSON, $4 the engine's
-- version, $5 and $6 the holder and the fence of the lease, or nulls, $7 whether states are discarded first. {at,
-- opened, escalated, closed, retracted} or {refused}. Tables that are overwritten at any time are copied in the same
-- transaction, so that all answers of this instant agree.
select upkeep.follow_tick(
  $1, engine.tick($1, $2, jsonb_populate_record(null::engine.rules, $3::jsonb), $4, $5, $6, $7)
) as decided
