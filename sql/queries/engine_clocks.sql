-- What time is it, and how far has the engine come? $1 how long after an instant it is decided, milliseconds.
-- {now, upTo, tickedAt, hoursAreDue}: upTo, which instants are due now; tickedAt, the last that was decided, or null;
-- hoursAreDue, whether typical latencies are still to be computed for one of those that are due.
select
  c.now,
  c.up_to as "upTo",
  e.ticked_at as "tickedAt",
  coalesce(e.typical_for < engine.typical_boundary(c.up_to), true) as "hoursAreDue"
from (
  -- whole milliseconds, as the programs have them
  select t.now, t.now - $1::int * interval '1 millisecond' as up_to
  from (select date_trunc('milliseconds', clock_timestamp())) as t (now)
) c
left join engine_clock e on true
