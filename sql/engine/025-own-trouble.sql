-- Chapters 3 and 4 of docs/rulebook.md: which samples a region's own network may have spoiled.

-- The times at which a region's own network failed, if over. Bad samples of these times are no evidence. If other
-- regions saw the same in the end, it was not the region's own trouble.
create function engine.own_trouble(since timestamptz, at timestamptz, known_at timestamptz)
returns table (region_id smallint, spans tstzmultirange)
language sql stable
as $$
  select i.region_id, range_agg(tstzrange(i.started_at, i.ended_at))
  from impairment i
  where i.recognised_at <= known_at
    and i.ended_at > since and i.ended_at <= at
    and not i.seen_elsewhere
  group by i.region_id
$$;

-- Whether an impairment counts as the region's own trouble at an instant. If it was recognised by then, yes, until it
-- ends because others see the same. In hindsight a later recognition counts too, but only once that is certain: it is
-- over and was the region's own, or has lasted as long as others may need to see the same.
create function engine.is_own_trouble(
  recognised_at timestamptz,
  ended_at timestamptz,
  seen_elsewhere boolean,
  at timestamptz,
  known_at timestamptz,
  r engine.rules
) returns boolean
language sql immutable parallel safe
return case
  when recognised_at <= at then (seen_elsewhere and ended_at <= at) is not true
  when ended_at <= known_at then not seen_elsewhere
  else recognised_at <= known_at - engine.ms(r.impaired_within_ms)
end;

-- Whether a region's own network can cause a fault. An upgrade that is answered with a status fails by that answer.
create function engine.may_be_ours(fault fault, http_status smallint) returns boolean
language sql immutable parallel safe
return fault in ('dns', 'connect', 'tls', 'timeout', 'closed') or fault = 'handshake' and http_status is null;

-- Whether a fault is an answer of the venue, which shows that the way to it works. A stalled stream shows neither.
create function engine.is_answer(fault fault, http_status smallint) returns boolean
language sql immutable parallel safe
return fault in ('http', 'blocked', 'limited', 'halted', 'body', 'stale')
  or fault = 'handshake' and http_status is not null;

-- Whether a sample counts. All do, except bad ones that the region's own network caused.
create function engine.counts(
  ts timestamptz, good boolean, latency_us integer, slow_from_us integer, ours tstzmultirange
)
returns boolean
language sql immutable parallel safe
return (ours @> ts and (not good or latency_us >= slow_from_us)) is not true;
