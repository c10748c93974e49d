-- The current time, and how far the engine is. $1 delay after an instant at which it is decided, $2 length of a pause,
-- both in milliseconds. {now, upTo, tickedAt, hoursAreDue, doubtful}: upTo, the newest instant that is due; tickedAt,
-- the last decided one, or null; hoursAreDue, whether typical latencies must still be computed for a due instant;
-- doubtful, whether a pause has passed since the last decided one, and nothing was measured in the minute before now:
-- then perhaps no time has passed, but this clock was set ahead.
select
  c.now,
  c.up_to as "upTo",
  e.ticked_at as "tickedAt",
  coalesce(e.typical_for < engine.typical_boundary(c.up_to), true) as "hoursAreDue",
  coalesce(c.now - e.ticked_at > $2::int * interval '1 millisecond', false)
  and not exists (select from sample s where s.ts > c.up_to - interval '1 minute') as doubtful
from (
  -- whole milliseconds, as in the programs
  select t.now, t.now - $1::int * interval '1 millisecond' as up_to
  from (select date_trunc('milliseconds', clock_timestamp())) as t (now)
) c
left join engine_clock e on true
