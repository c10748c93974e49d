-- Decide one instant: $1 the instant, $2 the rules as JSON, $3 the engine's version.
-- {at, opened, escalated, closed}, or null when this instant was decided before.
select engine.tick($1, jsonb_populate_record(null::engine.rules, $2::jsonb), $3) as decided
