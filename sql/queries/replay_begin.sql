-- In a new scratch schema: what the engine knew on the eve $1. $2 the earliest instant that will be judged, $3 a venue or null,
-- $4 whether typical latencies are to be reckoned anew, $5 the rules as JSON.
select engine.recall_for_replay($1, $2, $3, $4, jsonb_populate_record(null::engine.rules, $5::jsonb))
