-- Keep a batch of samples from one region.
--
-- $1 region; then one array a column of sample.
-- Returns on which timeline the database is (schema/023-timeline.sql); whether the region is known; which samples are of an unknown component, counted from 1; and how many of the others were
-- accepted, and new. An accepted one that is not new was sent before. What is neither is refused for good: a time older than what
-- roll-ups may still change, or more than a minute ahead of this database's clock (it would push a roll-up's watermark beyond now).
with here as (
  select region_id from region where region = $1
),
-- Once a batch, not once a sample. By former ids too: a spool, or a probe that runs since then, has samples of a venue from before it was renamed.
known as materialized (
  select n.venue, c.component, c.component_id
  from venue v
  cross join lateral unnest(v.venue || v.former_ids) as n (venue)
  join component c using (venue_id)
),
accepted as (
  select c.component_id, g.*
  from unnest(
    $2::text[], $3::text[], $4::timestamptz[], $5::fault[], $6::int[], $7::int[], $8::int[], $9::int[], $10::int[],
    $11::smallint[], $12::bigint[], $13::int[], $14::int[], $15::int[], $16::smallint[], $17::boolean[], $18::timestamptz[],
    $19::int[], $20::int[], $21::int[], $22::text[], $23::boolean[]
  ) as g (
    venue, component, ts, fault, latency_us, dns_us, connect_us, tls_us, first_byte_us,
    http_status, head, messages, quiet_ms, event_age_ms, late_ms, fresh, certificate_expires_at, sequence_gaps,
    clock_error_ms, clock_error_within_ms, refusal, unserved
  )
  join known c using (venue, component)
  where g.ts > now() - upkeep.refused_after()
    and g.ts <= now() + interval '1 minute'
    and exists (select from here)
),
stored as (
  insert into sample (
    ts, component_id, region_id, good, fault, latency_us, dns_us, connect_us, tls_us, first_byte_us,
    http_status, head, messages, quiet_ms, event_age_ms, late_ms, fresh, certificate_expires_at, sequence_gaps,
    clock_error_ms, clock_error_within_ms, refusal, unserved, received_after_s
  )
  select
    a.ts, a.component_id, (select region_id from here), a.fault is null, a.fault, a.latency_us, a.dns_us, a.connect_us, a.tls_us,
    a.first_byte_us, a.http_status, a.head, a.messages, a.quiet_ms, a.event_age_ms,
    a.late_ms, a.fresh, a.certificate_expires_at, a.sequence_gaps,
    a.clock_error_ms, a.clock_error_within_ms, left(a.refusal, 200), a.unserved,
    -- the clock as it is now, not when this transaction began: the engine relies on it to tell what was known when
    greatest(0, ceil(extract(epoch from clock_timestamp() - a.ts)))
  from accepted a
  -- two batches that hold the same samples wait for each other in one order, and never in a circle
  order by a.component_id, a.ts
  -- the key is the only thing to conflict with; naming it would ask for the right to read samples, which a probe lacks
  on conflict do nothing
  returning 1
)
select
  current_timeline() as timeline,
  exists (select from here) as knows_region,
  -- looked for only where some were not accepted
  case when (select count(*) from accepted) = cardinality($2::text[]) then '{}' else array(
    select g.place::int
    from unnest($2::text[], $3::text[], $4::timestamptz[]) with ordinality as g (venue, component, ts, place)
    where g.ts > now() - upkeep.refused_after()
      and g.ts <= now() + interval '1 minute'
      and not exists (select from known k where k.venue = g.venue and k.component = g.component)
    order by g.place
  ) end as unknown,
  (select count(*) from accepted)::int as accepted,
  (select count(*) from stored)::int as stored
