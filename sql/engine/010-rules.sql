-- Chapter 1 of RULEBOOK.md: the numbers, and the instants at which the engine decides.
--
-- The numbers stand, each with its reason, in server/engine/rules.ts; core passes them to every tick. `r` is always them.
create type engine.rules as (
  step_ms               integer,
  window_ms             integer,
  window_cadences       integer,
  min_samples           integer,
  degraded_bad_share    numeric,
  outage_bad_share      numeric,
  slow_multiple         numeric,
  slow_floor_ms         integer,
  typical_days          integer,
  typical_min_hours     integer,
  opening_bad_run       integer,
  vote_max_age_ms       integer,
  vote_max_age_cadences integer,
  impaired_min_venues   integer,
  impaired_venue_share  numeric,
  impaired_within_ms    integer,
  recovery_hold_ms      integer,
  flap_openings         integer,
  flap_within_ms        integer,
  flap_hold_ms          integer,
  retraction_ms         integer,
  retraction_every_ms   integer,
  late_alert_ms         integer,
  catch_up_ms           integer,
  silent_after_ms       integer
);

create function engine.ms(milliseconds bigint) returns interval
language sql immutable parallel safe
return milliseconds * interval '1 millisecond';

-- How far back a component is judged: a fixed time, or some of its cadences where those are longer.
create function engine.judged_span(cadence_ms integer, r engine.rules) returns interval
language sql immutable parallel safe
return engine.ms(greatest(r.window_ms, cadence_ms::bigint * r.window_cadences));

-- How old a region's newest sample of a component may be and still be a vote.
create function engine.vote_max_age(cadence_ms integer, r engine.rules) returns interval
language sql immutable parallel safe
return engine.ms(greatest(r.vote_max_age_ms, cadence_ms::bigint * r.vote_max_age_cadences));

create function engine.is_bad(state state) returns boolean
language sql immutable parallel safe
return state in ('degraded', 'outage');

-- The longest that any component that is watched is judged over: nothing older matters to a verdict.
create function engine.longest_span(r engine.rules) returns interval
language sql stable
as $$
  select coalesce(max(engine.judged_span(c.cadence_ms, r)), engine.ms(r.window_ms))
  from component c
  join venue v using (venue_id)
  where c.published and v.published
$$;

-- Which instants are to be decided, up to a time? All since the last one that was. After a long pause those are left
-- out at which nothing can happen, because nothing was measured within what they look at: a machine that was asleep
-- overnight need not walk through the night. Nothing is caught up beyond what the rules say.
create function engine.due_instants(up_to timestamptz, r engine.rules) returns setof timestamptz
language plpgsql stable
as $$
declare
  step       interval := engine.ms(r.step_ms);
  newest_at  timestamptz := date_bin(step, up_to, 'epoch');
  ticked_at  timestamptz := (select c.ticked_at from engine_clock c);
  oldest_at  timestamptz := greatest(date_bin(step, ticked_at, 'epoch') + step, date_bin(step, up_to - engine.ms(r.catch_up_ms), 'epoch'));
  -- an incident opens while the samples that it rests on are in the window, and is judged anew for a while after that
  looks_back interval := engine.longest_span(r) + engine.ms(r.retraction_ms);
begin
  if ticked_at is null then
    return next newest_at;
  elsif newest_at - ticked_at <= interval '5 minutes' then
    return query select generate_series(oldest_at, newest_at, step);
  else
    return query
      with measured as materialized (
        select m.minute
        from generate_series(date_bin('1 minute', oldest_at - looks_back, 'epoch'), newest_at, interval '1 minute') as m (minute)
        where exists (select from sample s where s.ts >= m.minute and s.ts < m.minute + interval '1 minute')
      ),
      -- measured minutes and how long each is looked back at, as spans without overlaps
      spans as (
        select unnest(range_agg(tstzrange(m.minute, m.minute + interval '2 minutes' + looks_back))) as span
        from measured m
      )
      select at
      from generate_series(oldest_at, newest_at, step) at
      where at = newest_at or exists (select from spans s where s.span @> at)
      order by at;
  end if;
end;
$$;
