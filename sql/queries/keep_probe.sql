-- A probe says that it is alive, and asks for what it measures.
--
-- $1 region; $2 process; $3 version; $4 when it started; $5 for how long it is to be believed, milliseconds; $6 its unmeasured slots so
-- far by reason, a JSON object; $7 its own troubles, a JSON array; $8 and $9 how far its clock is off, and how far off that may be,
-- milliseconds, or null; $10 ids of the venues that its registry has; $11 to $13 name, place and network of its vantage, or nulls; $14 fingerprint
-- of its machine, or null.
-- One row {venues, settled}: what it holds, in the registry's order, and whether nothing is to be shared out: if not, share_watch.sql is to be
-- asked. No row where there is no such region.
with here as materialized (
  select g.region_id from region g where g.region = $1
),
kept as (
  insert into probe as p (
    region_id, process, version, started_at, seen_at, alive_until, unmeasured, unmeasured_by, troubles,
    clock_error_ms, clock_error_within_ms, vantage_name, vantage_place, vantage_network, machine
  )
  select
    h.region_id, $2::uuid, $3, $4, clock_timestamp(), clock_timestamp() + $5::int * interval '1 millisecond',
    (select coalesce(sum(u.slots::bigint), 0) from jsonb_each_text($6::jsonb) as u (reason, slots)),
    $6::jsonb, $7::jsonb, $8::float8, $9::float8, $11, $12, $13, $14
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
    clock_error_within_ms = excluded.clock_error_within_ms,
    vantage_name = excluded.vantage_name,
    vantage_place = excluded.vantage_place,
    vantage_network = excluded.vantage_network,
    machine = excluded.machine
),
watched as (
  select
    v.venue,
    v.position,
    coalesce(w.process = $2::uuid, false) as mine,
    w.process is null or (w.process <> $2::uuid and not coalesce(p.alive_until > clock_timestamp(), false)) as free,
    n.known_as,
    n.known_as is not null as known
  from here h
  cross join venue v
  left join watch w on w.region_id = h.region_id and w.venue_id = v.venue_id
  left join probe p on p.region_id = h.region_id and p.process = w.process
  -- a registry from before the venue was renamed has it by a former id, and is answered with that
  cross join lateral (
    select case
      when v.venue = any ($10::text[]) then v.venue
      else (select f.id from unnest(v.former_ids) with ordinality as f (id, place) where f.id = any ($10::text[]) order by f.place limit 1)
    end as known_as
  ) n
  where v.published
),
-- Where all of the region's living probes are: this one where it says that it is now, the others where they said last. Null: not all on one
-- machine, at one place, ..., or one of them does not say.
vantage as (
  select
    h.region_id,
    case when count(*) = count(s.machine) and count(distinct s.machine) = 1 then min(s.machine) end as machine,
    case when count(*) = count(s.name) and count(distinct s.name) = 1 then min(s.name) end as name,
    case when count(*) = count(s.place) and count(distinct s.place) = 1 then min(s.place) end as place,
    case when count(*) = count(s.network) and count(distinct s.network) = 1 then min(s.network) end as network
  from here h
  cross join lateral (
    select $14::text as machine, $11::text as name, $12::text as place, $13::text as network
    union all
    select p.machine, p.vantage_name, p.vantage_place, p.vantage_network
    from probe p
    where p.region_id = h.region_id and p.process <> $2::uuid and p.alive_until > clock_timestamp()
  ) s
  group by h.region_id
),
moved as (
  insert into region_vantage (region_id, machine, name, place, network)
  select v.region_id, v.machine, v.name, v.place, v.network
  from vantage v
  left join lateral (
    select w.machine, w.name, w.place, w.network
    from region_vantage w
    where w.region_id = v.region_id
    order by w.holds_from desc
    limit 1
  ) w on true
  -- what nobody has ever said needs no row
  where (v.machine, v.name, v.place, v.network) is distinct from (w.machine, w.name, w.place, w.network)
  -- one change waits for a tick already: the next sign of life tells what it is by then
  on conflict do nothing
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
    (select array_agg(w.known_as order by w.position, w.venue) from watched w where w.mine and w.known), '{}'
  ) as venues,
  not exists (select from watched w where w.free and w.known)
    and (select count(*) from watched w where w.mine)
      >= (select count(*) from watched) / l.probes + (l.place <= (select count(*) from watched) % l.probes)::int as settled
from here
join living l on l.process = $2::uuid
