-- In a scratch schema: see, without deciding, at each of the instants $1 in their order. $2 the rules as JSON.
select engine.warm_up(i.at, jsonb_populate_record(null::engine.rules, $2::jsonb))
from unnest($1::timestamptz[]) as i (at)
