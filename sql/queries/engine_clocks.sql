-- The current time, and how far the engine is. $1 delay after an instant at which it is decided, milliseconds. {now,
-- upTo, tickedAt, hoursAreDue}: upTo, the newest instant that is due; tickedAt, the last decided one, or null;
-- hoursAreDue, whether typical latencies must still be computed for a due instant.
select
  c.now,
  c.up_to as "upTo",
  e.ticked_at as "tickedAt",
  coalesce(e.typical_for < engine.typical_boundary(c.up_to), true) as "hoursAreDue"
from (
  -- whole milliseconds, as in the programs
  select t.now, t.now - $1::int * interval '1 millisecond' as up_to
  from (select date_trunc('milliseconds', clock_timestamp())) as t (now)
) c
left join engine_clock e on true
