-- A probe says that it is alive, and asks for what it measures.
--
-- $1 region; $2 process; $3 version; $4 when it started; $5 for how long it is to be believed, milliseconds; $6 its unmeasured slots so
-- far by reason, a JSON object; $7 its own troubles, a JSON array; $8 and $9 how far its clock is off, and how far off that may be,
-- milliseconds, or null.
-- One row {venues, share}: the venues that it holds, in the registry's order, and how many it should. If these are not as many, share_watch.sql
-- is to be asked. No row where there is no such region.
with here as materialized (
  select g.region_id from region g where g.region = $1
),
kept as (
  insert into probe as p (
    region_id, process, version, started_at, seen_at, alive_until, unmeasured, unmeasured_by, troubles,
    clock_error_ms, clock_error_within_ms
  )
  select
    h.region_id, $2::uuid, $3, $4, clock_timestamp(), clock_timestamp() + $5::int * interval '1 millisecond',
    (select coalesce(sum(u.slots::bigint), 0) from jsonb_each_text($6::jsonb) as u (reason, slots)),
    $6::jsonb, $7::jsonb, $8::float8, $9::float8
  from here h
  on conflict (region_id, process) do update set
    version = excluded.version,
    started_at = excluded.started_at,
    seen_at = excluded.seen_at,
    alive_until = excluded.alive_until,
    unmeasured = excluded.unmeasured,
    unmeasured_by = excluded.unmeasured_by,
    troubles = excluded.troubles,
    clock_error_ms = excluded.clock_error_ms,
    clock_error_within_ms = excluded.clock_error_within_ms
),
held as (
  select v.venue, v.position
  from here h
  join watch w using (region_id)
  join venue v using (venue_id)
  where w.process = $2::uuid and v.published
),
living as (
  select a.process, row_number() over (order by a.process) as place, count(*) over () as probes
  from (
    select p.process
    from here h
    join probe p using (region_id)
    where p.alive_until > clock_timestamp()
    union
    select $2::uuid
  ) a
),
watched as (
  select count(*) as venues from venue v where v.published
)
select
  coalesce((select array_agg(d.venue order by d.position, d.venue) from held d), '{}') as venues,
  -- as even as whole venues allow
  (w.venues / l.probes + (l.place <= w.venues % l.probes)::int)::int as share
from here
cross join watched w
join living l on l.process = $2::uuid
