-- Samples as a fleet would have left them: between two instants, at a given step, for one venue or all.
--
-- $1 from, $2 to (exclusive), $3 step in milliseconds or null (each component's own cadence), $4 venue or null, $5 past
-- faults [{venue, component, regions, shows, slowMs, from, to}], explained in past.ts, $6 the usual latency from each
-- region [{venue, region, ms}], $7 spans measured at real cadences [{venue, from, to}]; where a step is given, no
-- samples are made in these spans.
with faults as materialized (
  select f.*
  from jsonb_to_recordset($5::jsonb) as f (
    venue text, component text, regions text[], shows fault, "slowMs" int, "from" timestamptz, "to" timestamptz
  )
  where f."from" < $2::timestamptz and f."to" > $1::timestamptz
),
closely_measured as materialized (
  select m.*
  from jsonb_to_recordset($7::jsonb) as m (venue text, "from" timestamptz, "to" timestamptz)
  where $3::int is not null and m."from" < $2::timestamptz and m."to" > $1::timestamptz
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
    l.ms as usual_ms
  from component c
  join venue v using (venue_id)
  cross join region g
  join jsonb_to_recordset($6::jsonb) as l (venue text, region text, ms real)
    on l.venue = v.venue and l.region = g.region
  where c.published and v.published and g.published and ($4::text is null or v.venue = $4)
),
slots as (
  select s.*, t.ts, random() as luck, random() as jitter
  from series s
  cross join lateral generate_series(
    $1::timestamptz, $2::timestamptz - interval '1 ms', s.step_ms * interval '1 ms'
  ) as t (ts)
  where not exists (
    select from closely_measured m
    where (m.venue is null or m.venue = s.venue) and t.ts >= m."from" and t.ts < m."to"
  )
),
befallen as (
  select s.*, f.shows, coalesce(f."slowMs", 0) as slow_ms, coalesce(f.unserved, false) as unserved
  from slots s
  left join lateral (
    select f.shows, f."slowMs", u.unserved
    from faults f
    -- the streams of a socket that is down are unserved, even if they have another fault
    cross join lateral (
      select
        s.kind = 'ws'
          and s.component <> 'ws:conn'
          and f.shows is not null
          and (f.component is null or f.component in ('ws:conn', 'ws:*'))
        as unserved
    ) u
    where (f.venue is null or f.venue = s.venue)
      and (u.unserved or f.component is null or f.component = s.component or f.component = s.kind || ':*')
      and (f.regions is null or s.region = any (f.regions))
      and s.ts >= f."from" and s.ts < f."to"
    order by u.unserved desc
    limit 1
  ) f on true
),
judged as (
  select
    b.*,
    coalesce(
      b.shows,
      -- losses in networks; but not where a minute has a single sample, as all of it would be lost
      case when $3::int is null and b.luck < 0.002 then
        (case when b.kind = 'rest' then 'timeout' when b.component = 'ws:conn' then 'closed' else 'stall' end)::fault
      end
    ) as fault
  from befallen b
)
insert into sample (ts, component_id, region_id, good, fault, unserved, latency_us, messages, quiet_ms)
select
  j.ts,
  j.component_id,
  j.region_id,
  j.fault is null,
  j.fault,
  case when j.unserved then true end,
  case when j.kind = 'rest' and j.fault is null then
    ((j.usual_ms * (0.9 + 0.4 * j.jitter * j.jitter) + j.slow_ms) * 1000)::int
  end,
  case
    when j.kind = 'ws' and j.component <> 'ws:conn' and not j.unserved
      then case when j.fault is null then 20 + (j.jitter * 30)::int else 0 end
  end,
  case
    when j.kind = 'ws' and j.component <> 'ws:conn' and not j.unserved
      then case when j.fault is null then (j.jitter * 3000)::int else 60000 end
  end
from judged j
on conflict (component_id, region_id, ts) do nothing
