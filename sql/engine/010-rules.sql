-- Chapter 1 of docs/rulebook.md: the numbers, and the instants at which the engine decides.
--
-- shared/rules/engine-rules.ts defines each number with its reason; core passes them to every tick as `r`.
create type engine.rules as (
  step_ms               integer,
  window_ms             integer,
  window_cadences       integer,
  min_samples           integer,
  gap_room_samples      integer,
  degraded_bad_share    numeric,
  degraded_min_failed   integer,
  outage_bad_share      numeric,
  slow_multiple         numeric,
  slow_floor_ms         integer,
  slow_untypical_ms     integer,
  typical_days          integer,
  typical_min_hours     integer,
  opening_bad_run       integer,
  partial_windows       integer,
  vote_max_age_ms       integer,
  vote_max_age_cadences integer,
  quorum_min_regions    integer,
  blocked_min_vantages  integer,
  refusal_pause_ms      integer,
  impaired_min_venues   integer,
  impaired_venue_share  numeric,
  impaired_within_ms    integer,
  outlier_after_ms      integer,
  recovery_hold_ms      integer,
  flap_openings         integer,
  flap_within_ms        integer,
  flap_hold_ms          integer,
  unmeasured_close_ms   integer,
  retraction_ms         integer,
  retraction_every_ms   integer,
  late_sample_ms        integer,
  late_alert_ms         integer,
  catch_up_ms           integer,
  silent_after_ms       integer
);

-- Records the rules of an instant if they have changed, so that a decision can be checked by the rules that applied.
create function engine.store_rules(at timestamptz, version text, r engine.rules) returns void
language plpgsql
as $$
begin
  insert into rules_in_force (holds_from, version, rules)
  select at, version, to_jsonb(r)
  where not exists (
    select
    from (select * from rules_in_force f where f.holds_from <= at order by f.holds_from desc limit 1) f
    where f.version = store_rules.version and f.rules = to_jsonb(r)
  )
  -- only when a history is rebuilt
  on conflict (holds_from) do update set version = excluded.version, rules = excluded.rules;
end;
$$;

-- The rules by which an instant was decided.
create function engine.rules_at(at timestamptz) returns engine.rules
language sql stable
as $$
  select jsonb_populate_record(null::engine.rules, f.rules)
  from rules_in_force f
  where f.holds_from <= at
  order by f.holds_from desc
  limit 1
$$;

create function engine.ms(milliseconds bigint) returns interval
language sql immutable parallel safe
return milliseconds * interval '1 millisecond';

-- How far back a component is judged: a fixed time, or a number of its cadences if that is longer.
create function engine.judged_span(cadence_ms integer, r engine.rules) returns interval
language sql immutable parallel safe
return engine.ms(greatest(r.window_ms, cadence_ms::bigint * r.window_cadences));

-- A longer time without a sample divides a window: so little room is left in it that the samples on both sides would at
-- times be too few for a verdict, and at times enough. At least half of the window, so that it is divided at most once,
-- around its middle.
create function engine.longest_gap(cadence_ms integer, r engine.rules) returns interval
language sql immutable parallel safe
return greatest(
  engine.judged_span(cadence_ms, r) - engine.ms(cadence_ms::bigint * r.gap_room_samples),
  engine.judged_span(cadence_ms, r) / 2
);

-- How many slots have passed without a sample since the oldest one that is looked at. After a refusal a probe pauses by
-- itself, so that none is missed.
create function engine.missed_slots(
  since_oldest interval,
  samples integer,
  refused boolean,
  cadence_ms integer,
  r engine.rules
) returns integer
language sql immutable parallel safe
return case
  when refused then 0
  else greatest(div(extract(epoch from since_oldest) * 1000, cadence_ms)::int - samples, 0)
end;

-- Maximum age of a region's newest sample of a component for it to count as a vote.
create function engine.vote_max_age(cadence_ms integer, r engine.rules) returns interval
language sql immutable parallel safe
return engine.ms(greatest(r.vote_max_age_ms, cadence_ms::bigint * r.vote_max_age_cadences));

-- The instant by which a sample must have been known to count for a judgement as of `at`: `at` itself; or, in
-- hindsight, `known_at`, but only for samples that came late. A sample with a normal delay does not count in hindsight
-- either: it would break runs that were complete at an opening.
create function engine.known_by(
  at timestamptz,
  known_at timestamptz,
  received_after_s integer,
  cadence_ms integer,
  r engine.rules
) returns timestamptz
language sql immutable parallel safe
return case when received_after_s * 1000::bigint > greatest(r.late_sample_ms, cadence_ms) then known_at else at end;

-- For how long after a refusal a region still has a vote, if it has not asked again.
create function engine.refusal_max_age(cadence_ms integer, r engine.rules) returns interval
language sql immutable parallel safe
return engine.vote_max_age(cadence_ms, r) + engine.ms(r.refusal_pause_ms);

-- How far back refusals are read that stand: the last ones that a verdict needs, with the longest pauses between them.
create function engine.refusals_span(cadence_ms integer, r engine.rules) returns interval
language sql immutable parallel safe
return engine.refusal_max_age(cadence_ms, r) * r.min_samples;

create function engine.is_refusal(fault fault) returns boolean
language sql immutable parallel safe
return (fault in ('limited', 'blocked')) is true;

create function engine.is_bad(state state) returns boolean
language sql immutable parallel safe
return state in ('degraded', 'outage');

-- How far back a partial failure is looked for.
create function engine.partial_span(cadence_ms integer, r engine.rules) returns interval
language sql immutable parallel safe
return engine.judged_span(cadence_ms, r) * r.partial_windows;

-- How far back samples of a component affect its verdict.
create function engine.looked_at_span(cadence_ms integer, r engine.rules) returns interval
language sql immutable parallel safe
return greatest(
  engine.judged_span(cadence_ms, r),
  engine.partial_span(cadence_ms, r),
  engine.refusals_span(cadence_ms, r)
);

-- The longest span over which any watched component is judged: nothing older affects a verdict.
create function engine.longest_span(r engine.rules) returns interval
language plpgsql stable
as $$
begin
  return (
    select engine.looked_at_span(max(c.cadence_ms), r)
    from component c
    join venue v using (venue_id)
    where c.published and v.published
  );
end;
$$;

-- The instants to decide up to a time: all since the last decided one, limited by the catch-up rule. `from_scratch`:
-- instants before this one are never decided, so the known states are out of date and must be discarded.
--
-- After a long pause, instants at which nothing can happen are skipped, because nothing was measured within the spans
-- that they look at: a machine that slept overnight need not walk through the night. A state depends on samples within
-- the longest span; so does an opening, which is also re-checked for a while (retraction_ms).
create function engine.due_instants(up_to timestamptz, r engine.rules)
returns table (at timestamptz, from_scratch boolean)
language plpgsql stable
as $$
declare
  step       interval := engine.ms(r.step_ms);
  newest_at  timestamptz := date_bin(step, up_to, 'epoch');
  ticked_at  timestamptz := (select c.ticked_at from engine_clock c);
  next_at    timestamptz := date_bin(step, ticked_at, 'epoch') + step;
  reach_at   timestamptz := date_bin(step, up_to - engine.ms(r.catch_up_ms), 'epoch');
  first_at   timestamptz := greatest(next_at, reach_at);
  looks_back interval := engine.longest_span(r) + engine.ms(r.retraction_ms);
begin
  if ticked_at is null then
    return query select newest_at, false;
  elsif newest_at - ticked_at <= looks_back then
    -- nothing to skip
    return query
      select i.instant, i.instant = first_at and next_at < reach_at
      from generate_series(first_at, newest_at, step) i (instant);
  else
    return query
      with measured as materialized (
        select m.minute
        from generate_series(
          date_bin('1 minute', first_at - looks_back, 'epoch'), newest_at, interval '1 minute'
        ) as m (minute)
        where exists (select from sample s where s.ts >= m.minute and s.ts < m.minute + interval '1 minute')
      ),
      -- measured minutes, each extended to the instant at which its last sample is out of sight, merged into spans
      spans as (
        select unnest(range_agg(tstzrange(m.minute, m.minute + interval '1 minute' + looks_back + step, '[]'))) as span
        from measured m
      ),
      -- What happens without a sample: an entry ends, or an incident closes because its end is unknown. Until an
      -- instant is decided, the state that the last decided one left is the newest.
      ends as (
        select date_bin(step, e.at - interval '1 microsecond', 'epoch') + step as instant
        from (
          select c.ends_at from component c
          union all
          select greatest(s.not_bad_since, i.opened_at) + engine.ms(r.unmeasured_close_ms)
          from engine.open_incidents_of(null) i
          join component_state s using (component_id)
        ) as e (at)
        where e.at > first_at - step and e.at <= newest_at
      )
      select i.instant, i.instant = first_at and next_at < reach_at
      from generate_series(first_at, newest_at, step) i (instant)
      -- the first one too: the registry may have changed meanwhile
      where i.instant in (first_at, newest_at) or exists (select from spans s where s.span @> i.instant)
        or i.instant in (select e.instant from ends e)
      order by i.instant;
  end if;
end;
$$;
