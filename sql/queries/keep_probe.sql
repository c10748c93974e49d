-- A probe says that it is alive, and asks for what it measures.
--
-- $1 region; $2 process; $3 version; $4 when it started; $5 for how long it is to be believed, milliseconds; $6 its unmeasured slots so
-- far by reason, a JSON object; $7 its own troubles, a JSON array; $8 and $9 how far its clock is off, and how far off that may be,
-- milliseconds, or null; $10 ids of the venues that its registry has.
-- One row {venues, settled}: what it holds, in the registry's order, and whether nothing is to be shared out: if not, share_watch.sql is to be
-- asked. No row where there is no such region.
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
watched as (
  select
    v.venue,
    v.position,
    coalesce(w.process = $2::uuid, false) as mine,
    w.process is null or (w.process <> $2::uuid and not coalesce(p.alive_until > clock_timestamp(), false)) as free,
    v.venue = any ($10::text[]) as known
  from here h
  cross join venue v
  left join watch w on w.region_id = h.region_id and w.venue_id = v.venue_id
  left join probe p on p.region_id = h.region_id and p.process = w.process
  where v.published
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
)
select
  coalesce(
    (select array_agg(w.venue order by w.position, w.venue) from watched w where w.mine and w.known), '{}'
  ) as venues,
  not exists (select from watched w where w.free and w.known)
    and (select count(*) from watched w where w.mine)
      >= (select count(*) from watched) / l.probes + (l.place <= (select count(*) from watched) % l.probes)::int as settled
from here
join living l on l.process = $2::uuid
