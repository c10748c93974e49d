-- Which instants are to be decided? $1 up to when, $2 the rules as JSON. {at}, in order.
select at from engine.due_instants($1, jsonb_populate_record(null::engine.rules, $2::jsonb)) at
