-- How far the endpoints of a chain lag behind it, as seen from one region: the last head of each, and the freshest head
-- that we had when it was asked. Only endpoints that reported a head within a day.
create function api.chain_lag(of_chain text, rest integer[], of_region smallint, at timestamptz)
returns table (
  component_id integer, head bigint, freshest_head bigint, head_at timestamptz, backwards integer
)
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  -- How often an endpoint's head went backwards: lower than its previous one, as when two nodes alternate behind one
  -- address. As in analytics.heads_backwards. Always of one day: comparing neighbours over a week costs as much as the
  -- rest of this page. Each endpoint is read separately, so that the index returns its heads in order.
  with named as (
    select c.component_id, b.backwards
    from unnest(rest) as c (component_id)
    cross join lateral (
      select count(*)::int as heads, (count(*) filter (where h.head < h.before))::int as backwards
      from (
        select s.head, lag(s.head) over (order by s.ts) as before
        from sample s
        where s.component_id = c.component_id
          and s.region_id = of_region
          and s.head is not null
          and s.ts > at - interval '1 day' and s.ts <= at
          and api.known_by(at, s.ts, s.received_after_s)
          and s.ts > now() - interval '2 days'
      ) h
    ) b
    where b.heads > 0
  ),
  -- a day of blocks, as in probe/measure/chain.ts; any number is a guess if the chain's block time is unknown
  bound as materialized (
    select coalesce(86400000 / max((v.entry ->> 'blockMs')::numeric), 100000) as blocks
    from venue v
    where v.chain = of_chain and v.published
  ),
  -- what our own fleet read of this chain from this region, at any venue
  readings as materialized (
    select
      s.component_id,
      s.ts,
      s.head,
      -- venues that use the same host are not independent
      substring(c.target from '://([^/?#]+)') as provider,
      -- Probes of one region have different clocks, so instants are on the venues' clock, or on the probe's if its
      -- error is unknown.
      s.clock_error_ms is not null as clock_known,
      -- earliest possible
      s.ts - coalesce(s.clock_error_ms + s.clock_error_within_ms, 0) * interval '1 ms' as asked_at,
      -- Latest possible: a start that is not recorded as late may be up to 50 ms late, and latency starts with the
      -- first byte sent.
      s.ts
        - coalesce(s.clock_error_ms - s.clock_error_within_ms, 0) * interval '1 ms'
        + coalesce(s.late_ms, 50) * interval '1 ms'
        + (coalesce(s.dns_us, 0) + coalesce(s.connect_us, 0) + coalesce(s.tls_us, 0) + s.latency_us) * interval '1 us'
        as answered_at
    from sample s
    join component c using (component_id)
    where s.component_id = any (array(
        select c.component_id
        from component c
        join venue v using (venue_id)
        where v.chain = of_chain and c.kind = 'rest'
      ))
      and s.region_id = of_region
      and s.head is not null
      -- as far back as the oldest of own_heads may lie, plus a minute
      and s.ts > at - interval '1 minute' - (
        select greatest(interval '1 minute', max(3 * o.cadence_ms) * interval '1 ms')
        from component o
        where o.component_id = any (rest)
      )
      and s.ts <= at
      and api.known_by(at, s.ts, s.received_after_s)
      and s.ts > now() - interval '1 hour'
  ),
  own_heads as (
    select distinct on (r.component_id) r.*
    from readings r
    join component c using (component_id)
    where r.component_id = any (rest)
      and r.ts > at - greatest(interval '1 minute', 3 * c.cadence_ms * interval '1 ms')
    order by r.component_id, r.ts desc
  ),
  -- The freshest head that an endpoint could have known when it was asked, because we already had it: not the true head
  -- of the chain. A head that is further than the bound from everything that other providers reported in that minute is
  -- from another chain, or invented.
  freshest as (
    select
      h.component_id,
      (
        select max(r.head)
        from readings r
        where r.ts > h.ts - interval '1 minute'
          -- if only one of the clocks is known, the order of the two instants is unknown
          and (r.answered_at <= h.asked_at and r.clock_known = h.clock_known or r.component_id = h.component_id)
          and (
            select count(*) = 0 or bool_or(abs(o.head - r.head) <= (select b.blocks from bound b))
            from readings o
            where o.ts > h.ts - interval '1 minute' and o.ts <= h.ts and o.provider <> r.provider
          )
      ) as head
    from own_heads h
  )
  select n.component_id, h.head, f.head, h.ts, n.backwards
  from named n
  left join own_heads h using (component_id)
  left join freshest f using (component_id);
end;
$$;

-- The lag of one endpoint, the same wherever it appears. A head above the freshest one is one that nobody confirms.
create function api.lag_body(head bigint, freshest_head bigint, head_at timestamptz, backwards integer) returns json
language sql stable parallel safe
return json_build_object(
  'blocks', case when head <= freshest_head then freshest_head - head end,
  'head', head,
  'freshestHead', freshest_head,
  'at', api.iso(head_at),
  'backwards', backwards
);
