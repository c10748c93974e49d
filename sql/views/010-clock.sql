-- As of when does everything speak, and does the engine still decide?
--
-- One row. Every body is a function of `generated_at`: two that show the same instant agree, whichever process made
-- them and whatever came in between. While the engine is alive, that is its last tick, and a millisecond more for each
-- time that upkeep or a notice has changed the published past since (`revision`). After five minutes of silence (a rule
-- of the engine's, which it leaves here) nothing that it said may be shown as current any more, nor while it catches up
-- on more than that; it is judged here, by the views, so that it holds when core is dead. Then the instant is one of
-- every ten seconds, half a minute ago at least, or that of the last change, where that is later. A change made in the
-- silence is two seconds ago (revision_after): what was on its way has arrived by then, and no reader has shown its
-- instant before the commit.
--
-- `silent_at` is since when that is so; where the engine never decided anything, since there is this database.
--
-- `published_to` is up to when minutes are published: what upkeep rolls up every twelve seconds (upkeep.refresh_newest)
-- is after it. Hours and days are published as far as their minutes are. What changes before it later moves `revision`
-- on.
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
  (g.generated_at at time zone 'UTC')::date as today,
  -- an engine whose clock was ahead has published nothing that is still to come
  time_bucket('1 minute', least(e.ticked_at, g.generated_at)) - interval '4 minutes' as published_to
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
  select case
    when f.fresh then s.changed_at
    -- of a tick from the future nothing is shown, until its time has come
    when s.changed_at > now() + interval '1 minute' then s.silent_instant + e.revision % 1000 * interval '1 millisecond'
    else greatest(s.silent_instant, s.changed_at)
  end as generated_at
  from (
    select
      e.ticked_at + e.revision * interval '1 millisecond' as changed_at,
      date_bin('10 seconds', now() - interval '32 seconds', 'epoch') as silent_instant
  ) s
) g;

-- Availability in per cent, cut and never rounded up: 100 stands only where not one minute was down. Null where nothing
-- was measured.
create function api.uptime_pct(measured bigint, down bigint) returns numeric
language sql immutable parallel safe
return trunc(100 * (1 - down::numeric / nullif(measured, 0)), 3);

-- Of fewer answers there is no percentile. server/api/figure-rules.ts publishes both numbers with their reasons.
create function api.p50_min_answers() returns integer language sql immutable parallel safe return 3;
create function api.p95_min_answers() returns integer language sql immutable parallel safe return 10;

-- A median and a 95th percentile, where there are enough answers for one; in microseconds, and shown in milliseconds.
create function api.p50_ms(us double precision, answers bigint) returns integer
language sql immutable parallel safe
return case when answers >= api.p50_min_answers() then api.whole_ms(us) end;

create function api.p95_ms(us double precision, answers bigint) returns integer
language sql immutable parallel safe
return case when answers >= api.p95_min_answers() then api.whole_ms(us) end;

-- Had a sample come in by an instant? It was received in the second that ends so long after its slot. Stable, as
-- api.iso is: adding to a time is, and were it declared more, it would not be inlined, and a page would take twice as
-- long.
create function api.known_by(at timestamptz, ts timestamptz, received_after_s integer) returns boolean
language sql stable parallel safe
return ts + received_after_s * interval '1 second' <= at;
