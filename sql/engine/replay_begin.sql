-- In a new scratch schema: load what the engine knew just before $1. $2 when states start to be computed, $3 the
-- earliest instant that will be judged, $4 a venue or null, $5 whether to recompute typical latencies, $6 the rules as
-- JSON.
select engine.recall_for_replay($1, $2, $3, $4, $5, jsonb_populate_record(null::engine.rules, $6::jsonb))
