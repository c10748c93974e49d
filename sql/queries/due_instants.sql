-- The instants to decide: $1 up to when, $2 the rules as JSON. {at, anew}, in order.
select at, anew from engine.due_instants($1, jsonb_populate_record(null::engine.rules, $2::jsonb))
