-- In a scratch schema: compute the states, without deciding, at each of the instants $1 in order. $2 the rules as JSON.
select engine.warm_up(i.at, jsonb_populate_record(null::engine.rules, $2::jsonb))
from unnest($1::timestamptz[]) as i (at)
