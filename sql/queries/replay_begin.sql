-- In a new scratch schema: what the engine knew on the eve $1. $2 from when on states are seen, $3 the earliest instant
-- that will be judged, $4 a venue or null, $5 whether typical latencies are to be recomputed, $6 the rules as JSON.
select engine.recall_for_replay($1, $2, $3, $4, $5, jsonb_populate_record(null::engine.rules, $6::jsonb))
