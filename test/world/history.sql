-- Samples as a fleet would have left them: between two instants, at a given step, for one venue or all.
--
-- $1 from, $2 to (exclusive), $3 step in milliseconds or null (each component's own cadence), $4 venue or null,
-- $5 past faults [{venue, component, regions, fault, from, to}] (component and regions null: all).
with faults as (
  select f.*
  from jsonb_to_recordset($5::jsonb) as f (
    venue text, component text, regions text[], fault fault, "from" timestamptz, "to" timestamptz
  )
),
series as (
  select
    c.component_id,
    c.component,
    c.kind,
    v.venue,
    g.region_id,
    g.region,
    coalesce($3::int, c.cadence_ms) as step_ms,
    -- every venue is nearer to some region than to others
    20 + abs(hashtext(v.venue || g.region)) % 140 as base_ms
  from component c
  join venue v using (venue_id)
  cross join region g
  where c.published and v.published and g.published and ($4::text is null or v.venue = $4)
),
slots as (
  select s.*, t.ts, random() as luck, random() as jitter
  from series s
  cross join lateral generate_series(
    $1::timestamptz, $2::timestamptz - interval '1 ms', s.step_ms * interval '1 ms'
  ) as t (ts)
),
judged as (
  select
    s.*,
    coalesce(
      (
        select f.fault
        from faults f
        where f.venue = s.venue
          and (f.component is null or f.component = s.component)
          and (f.regions is null or s.region = any (f.regions))
          and s.ts >= f."from" and s.ts < f."to"
        limit 1
      ),
      -- what networks lose
      case when s.luck < 0.002 then (case when s.kind = 'rest' then 'timeout' when s.component = 'ws:conn' then 'closed' else 'stall' end)::fault end
    ) as fault
  from slots s
)
insert into sample (ts, component_id, region_id, good, fault, latency_us, messages, quiet_ms)
select
  j.ts,
  j.component_id,
  j.region_id,
  j.fault is null,
  j.fault,
  case when j.kind = 'rest' and j.fault is null then ((j.base_ms * (0.9 + 0.4 * j.jitter * j.jitter)) * 1000)::int end,
  case when j.kind = 'ws' and j.component <> 'ws:conn' then case when j.fault is null then 20 + (j.jitter * 30)::int else 0 end end,
  case when j.kind = 'ws' and j.component <> 'ws:conn' then case when j.fault is null then (j.jitter * 3000)::int else 60000 end end
from judged j
on conflict (component_id, region_id, ts) do nothing
