-- The instant that every answer describes, and whether the engine still decides. One row.
--
-- Every body is a function of `generated_at`: two bodies with the same instant agree, whichever process made them and
-- whatever arrived in between. While the engine is alive, that is its last tick, plus a millisecond for each time that
-- upkeep or a notice has since changed the published past (`revision`).
--
-- After five minutes of silence (a rule that the engine leaves here), or while the engine catches up on more than that,
-- nothing that it decided is shown as current. The views judge this, so that it also works when core is dead. The
-- instant is then a multiple of ten seconds, at least half a minute ago, or the last change, whichever is later. A
-- change made during the silence is dated two seconds ago (revision_after): samples on their way have arrived by then,
-- and no reader has shown its instant before the commit.
--
-- `silent_at` is the start of the silence; if the engine never decided anything but a history, the creation of the
-- database.
--
-- `published_to` is the end of the published minutes: what upkeep rolls up every twenty seconds (upkeep.refresh_newest)
-- lies after it. Hours and days are published as far as their minutes are. A later change before it increments
-- `revision`.
create view api.clock as
select
  f.fresh as engine_fresh,
  e.ticked_at,
  case when not f.fresh then least(
    g.generated_at,
    coalesce(
      e.silent_since,
      case when not e.is_history then e.ticked_at + e.silent_after_ms * interval '1 millisecond' end,
      (select min(m.applied_at) from migration m)
    )
  ) end as silent_at,
  g.generated_at,
  (g.generated_at at time zone 'UTC')::date as today,
  -- an engine whose clock was ahead has published nothing for the future
  time_bucket('1 minute', least(e.ticked_at, g.generated_at)) - interval '4 minutes' as published_to
from (select) one
left join engine_clock e on true
cross join lateral (
  -- a tick from the future is no sign of life: this clock or the engine's was set back, and the engine pauses meanwhile
  select coalesce(
    e.ticked_at > now() - e.silent_after_ms * interval '1 millisecond' and e.ticked_at < now() + interval '1 minute',
    false
  ) as fresh
) f
cross join lateral (
  select case
    when f.fresh then s.changed_at
    -- show nothing of a tick from the future until its time has come
    when s.changed_at > now() + interval '1 minute' then s.silent_instant + e.revision % 1000 * interval '1 millisecond'
    else greatest(s.silent_instant, s.changed_at)
  end as generated_at
  from (
    select
      e.ticked_at + e.revision * interval '1 millisecond' as changed_at,
      date_bin('10 seconds', now() - interval '32 seconds', 'epoch') as silent_instant
  ) s
) g;

-- Availability in per cent, truncated and never rounded up: 100 only if no minute was down. Null if nothing was
-- measured.
create function api.uptime_pct(measured bigint, down bigint) returns numeric
language sql immutable parallel safe
return trunc(100 * (1 - down::numeric / nullif(measured, 0)), 3);

-- Minimum number of answers for a percentile. server/web/board/thresholds.ts publishes both numbers with their reasons.
create function api.p50_min_answers() returns integer language sql immutable parallel safe return 3;
create function api.p95_min_answers() returns integer language sql immutable parallel safe return 10;

-- A median and a 95th percentile in milliseconds, from microseconds; null with too few answers.
create function api.p50_ms(us double precision, answers bigint) returns integer
language sql immutable parallel safe
return case when answers >= api.p50_min_answers() then api.whole_ms(us) end;

create function api.p95_ms(us double precision, answers bigint) returns integer
language sql immutable parallel safe
return case when answers >= api.p95_min_answers() then api.whole_ms(us) end;

-- Whether a sample had arrived by an instant: it was received in the second that ends received_after_s after its slot.
-- Declared stable, as api.iso is, because adding to a timestamptz is stable: if it were declared immutable, it would
-- not be inlined, and a page would take twice as long.
create function api.known_by(at timestamptz, ts timestamptz, received_after_s integer) returns boolean
language sql stable parallel safe
return ts + received_after_s * interval '1 second' <= at;
