-- The constants of the engine, as SQL sees them. They stand, each with its reason, in server/engine/rules.ts;
-- core passes them to every tick.
create type engine.rules as (
  window_ms             integer,
  window_cadences       integer,
  min_samples           integer,
  degraded_bad_share    numeric,
  outage_bad_share      numeric,
  opening_bad_run       integer,
  vote_max_age_ms       integer,
  vote_max_age_cadences integer,
  recovery_hold_ms      integer
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
