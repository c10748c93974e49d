-- In a scratch schema: decide each of the instants $1 in order. $2 the rules as JSON, $3 the engine's version. Returns
-- the result of engine.tick() for each.
select engine.tick(i.at, i.at, jsonb_populate_record(null::engine.rules, $2::jsonb), $3, null, null) as decided
from unnest($1::timestamptz[]) as i (at)
