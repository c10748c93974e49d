-- The instants to decide: $1 up to when, $2 the rules as JSON. {at, fromScratch}, in order.
select at, from_scratch as "fromScratch"
from engine.due_instants($1, jsonb_populate_record(null::engine.rules, $2::jsonb))
