-- Bring the venue leases of a probe to its share. One row {venues}: what it holds then.
--
-- $1 region; $2 process; $3 ids of the venues in its registry: it can measure no others; $4 whether it may take the
-- leases of dead probes: a probe that was itself cut off from the database may not yet, because the others were too,
-- and are about to send heartbeats. Run it in the transaction of lock_venue_leases.sql, after it.
--
-- All venues whose holder is dead or withholds its samples are taken, so that none is left over if probes know
-- different venues. If its share is still not reached, it takes venues from probes that hold more than theirs; these
-- learn of it at their next heartbeat. Until then both probes measure the venue, so no slot is lost.
--
-- A probe compares the heads that it reads of a chain. So the RPC providers of a chain, and the chain itself, go
-- together: they count as the first of them in the registry's order, and follow it to its holder.
with here as materialized (
  select g.region_id from region g where g.region = $1
),
living as materialized (
  select p.process, row_number() over (order by p.process) as place, count(*) over () as probes
  from here h
  join probe p using (region_id)
  where p.process = $2::uuid
    or (p.alive_until > clock_timestamp() and not upkeep.withholds(p.clock_error_ms, p.clock_error_within_ms))
),
venues as materialized (
  select
    v.venue_id,
    v.venue,
    v.position,
    v.position = min(v.position) over of_chain as leads,
    first_value(v.venue_id) over (of_chain order by v.position) as leader,
    w.process as holder,
    l.process is not null as held,
    -- not held, or held by a probe that shut down, died or withholds its samples
    l.process is null
      and (
        w.process is null or p.alive_until = '-infinity'
        or upkeep.withholds(p.clock_error_ms, p.clock_error_within_ms) or $4
      ) as free,
    n.known_as,
    n.known_as is not null as known
  from here h
  cross join venue v
  -- as in keep_probe.sql
  cross join lateral (
    select case
      when v.venue = any ($3::text[]) then v.venue
      else (
        select f.id
        from unnest(v.former_ids) with ordinality as f (id, place)
        where f.id = any ($3::text[])
        order by f.place
        limit 1
      )
    end as known_as
  ) n
  left join watch w on w.region_id = h.region_id and w.venue_id = v.venue_id
  left join probe p on p.region_id = h.region_id and p.process = w.process
  left join living l on l.process = w.process
  where v.published
  window of_chain as (
    partition by
      case when v.category = 'rpc' then v.chain end,
      case when v.category <> 'rpc' or v.chain is null then v.venue_id end
  )
),
holding as materialized (
  select
    l.process,
    -- as even as whole venues allow
    n.venues / l.probes + (l.place <= n.venues % l.probes)::int as share,
    (select count(*) from venues v where v.holder = l.process and v.leads) as venues
  from living l
  cross join (select count(*) as venues from venues v where v.leads) n
),
taken_over as (
  select v.venue_id, v.leads
  from venues v
  where v.free and v.known
),
-- from each probe above its share, the last venues in the registry's order
surplus as (
  select
    v.venue_id,
    v.position,
    row_number() over (partition by v.holder order by v.position desc, v.venue_id desc) > d.venues - d.share as kept,
    v.known
  from venues v
  join holding d on d.process = v.holder
  where d.process <> $2::uuid and d.venues > d.share and v.leads
),
taken_from_others as (
  select s.venue_id
  from surplus s
  where s.known and not s.kept
  order by s.position, s.venue_id
  limit greatest(
    0,
    (select d.share - d.venues from holding d where d.process = $2::uuid)
      - (select count(*) from taken_over t where t.leads)
  )
),
followers as (
  select v.venue_id
  from venues v
  join venues l on l.venue_id = v.leader
  where v.known and not v.leads and v.holder is distinct from $2::uuid
    and (
      l.holder = $2::uuid
      or l.venue_id in (select t.venue_id from taken_over t union all select t.venue_id from taken_from_others t)
    )
),
taken as (
  insert into watch as w (region_id, venue_id, process)
  select h.region_id, t.venue_id, $2::uuid
  from here h
  cross join (
    select venue_id from taken_over
    union select venue_id from taken_from_others
    union select venue_id from followers
  ) t
  on conflict (region_id, venue_id) do update set process = excluded.process
  returning w.venue_id
)
select coalesce(array_agg(v.known_as order by v.position, v.venue), '{}') as venues
from venues v
where v.known and (v.holder = $2::uuid or v.venue_id in (select t.venue_id from taken t))
