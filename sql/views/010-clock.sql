-- As of when does everything speak, and does the engine still decide?
--
-- One row. While the engine is alive, `generated_at` is its last tick, so that all answers within one tick agree. After
-- five minutes of silence (a rule of the engine's, which it leaves here) nothing that it said may be shown as current any
-- more, nor while it catches up on more than that; it is judged here, by the views, so that it holds when core is dead.
-- `silent_at` is since when that is so; where the engine never decided anything, since there is this database.
create view api.clock as
select
  f.fresh as engine_fresh,
  e.ticked_at,
  case when not f.fresh then least(
    g.generated_at,
    coalesce(
      e.silent_since,
      e.ticked_at + e.silent_after_ms * interval '1 millisecond',
      (select min(m.applied_at) from migration m)
    )
  ) end as silent_at,
  g.generated_at,
  (g.generated_at at time zone 'UTC')::date as today
from (select) one
left join engine_clock e on true
cross join lateral (
  -- a tick from the future is no sign of life: this clock, or the engine's, went back, and it decides nothing meanwhile
  select coalesce(
    e.ticked_at > now() - e.silent_after_ms * interval '1 millisecond' and e.ticked_at < now() + interval '1 minute',
    false
  ) as fresh
) f
cross join lateral (
  select case when f.fresh then e.ticked_at else date_bin('10 seconds', now(), 'epoch') end as generated_at
) g;

-- Availability in per cent, cut and never rounded up: 100 stands only where not one minute was down. Null where nothing
-- was measured.
create function api.uptime_pct(measured bigint, down bigint) returns numeric
language sql immutable parallel safe
return trunc(100 * (1 - down::numeric / nullif(measured, 0)), 3);

-- The roll-ups usual_hour and latency_hour round the same way, and have to.
create function api.whole_ms(us double precision) returns integer
language sql immutable parallel safe
return round(us / 1000)::int;
