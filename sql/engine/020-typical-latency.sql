-- Chapter 2 of docs/rulebook.md: the typical latency of each endpoint from each region.

-- The boundary up to which hours count for the typical latencies in force at an instant. They take effect ten minutes
-- after it (a quarter of a UTC day), when its last hour is rolled up.
create function engine.typical_boundary(at timestamptz) returns timestamptz
language sql immutable parallel safe
return date_bin('6 hours', at - interval '10 minutes', 'epoch');

create function engine.typical_in_force(at timestamptz) returns timestamptz
language sql immutable parallel safe
return engine.typical_boundary(at) + interval '10 minutes';

-- The latency from which an answer is slow. Rounded up, because latencies are whole: 210 is not twice 105.2. A fixed
-- limit applies until a typical latency is known. Null for streams and sockets, which are never slow.
create function engine.slow_from_us(kind text, typical_us integer, r engine.rules) returns integer
language sql immutable parallel safe
return case
  when kind <> 'rest' then null
  when typical_us is null then r.slow_untypical_ms * 1000
  else ceil(greatest(typical_us * r.slow_multiple, typical_us + r.slow_floor_ms * 1000))::int
end;

-- Computes the typical latencies in force at an instant, once. From complete hours, so it does not matter when; the
-- result is kept, so that late samples do not change what was decided by it.
create function engine.store_typical_latencies(at timestamptz, r engine.rules) returns void
language plpgsql
as $$
declare
  boundary timestamptz := engine.typical_boundary(at);
begin
  if exists (select from engine_clock c where c.typical_for >= boundary) then
    return;
  end if;
  insert into typical_latency (holds_from, component_id, region_id, p50_us, hours)
  select
    engine.typical_in_force(at),
    h.component_id,
    h.region_id,
    round(percentile_cont(0.5) within group (order by h.p50_us)),
    count(*)
  from sample_hour h
  join component c using (component_id)
  join venue v using (venue_id)
  where c.kind = 'rest' and c.published and v.published
    and h.hour >= boundary - r.typical_days * interval '1 day'
    and h.hour < boundary
    and h.p50_us is not null
  group by h.component_id, h.region_id
  having count(*) >= r.typical_min_hours
  on conflict do nothing;

  update engine_clock set typical_for = boundary;
end;
$$;
