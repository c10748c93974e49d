-- Bring the venue leases of a probe to its share. One row {venues}: what it holds then.
--
-- known_venues: ids of the venues in its registry: it can measure no others; take_over: whether it may take the leases
-- of dead probes. A probe that was itself cut off from the database may not yet, because the others were too, and are
-- about to send heartbeats.
--
-- All venues whose holder is dead or withholds its samples are taken, so that none is left over if probes know
-- different venues. If its share is still not reached, it takes venues from probes that hold more than theirs; these
-- learn of it at their next heartbeat. Until then both probes measure the venue, so no slot is lost.
--
-- A probe compares the heads that it reads of a chain. So the RPC providers of a chain, and the chain itself, go
-- together: they count as the first of them in the registry's order, and follow it to its holder.
create function upkeep.share_venue_leases(region text, process uuid, known_venues text[], take_over boolean)
returns table (venues text[])
language plpgsql security definer
set search_path = venuewatch, pg_temp
as $$
#variable_conflict use_column
begin
  perform upkeep.require_region(region);
  -- until the transaction ends; a statement of its own, because one that waits for a lock reads the state from before
  perform pg_advisory_xact_lock(hashtextextended('venuewatch.venue_lease.' || region, 0));
  return query
  with here as materialized (
    select g.region_id from region g where g.region = share_venue_leases.region
  ),
  living as materialized (
    select p.process, row_number() over (order by p.process) as place, count(*) over () as probes
    from here h
    join probe p using (region_id)
    where p.process = share_venue_leases.process
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
          or upkeep.withholds(p.clock_error_ms, p.clock_error_within_ms) or take_over
        ) as free,
      n.known_as,
      n.known_as is not null as known
    from here h
    cross join venue v
    -- as in 020-renew-probe.sql
    cross join lateral (
      select case
        when v.venue = any (known_venues) then v.venue
        else (
          select f.id
          from unnest(v.former_ids) with ordinality as f (id, place)
          where f.id = any (known_venues)
          order by f.place
          limit 1
        )
      end as known_as
    ) n
    left join venue_lease w on w.region_id = h.region_id and w.venue_id = v.venue_id
    left join probe p on p.region_id = h.region_id and p.process = w.process
    left join living l on l.process = w.process
    where v.published and (v.ends_at <= clock_timestamp()) is not true
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
    where d.process <> share_venue_leases.process and d.venues > d.share and v.leads
  ),
  taken_from_others as (
    select s.venue_id
    from surplus s
    where s.known and not s.kept
    order by s.position, s.venue_id
    limit greatest(
      0,
      (select d.share - d.venues from holding d where d.process = share_venue_leases.process)
        - (select count(*) from taken_over t where t.leads)
    )
  ),
  followers as (
    select v.venue_id
    from venues v
    join venues l on l.venue_id = v.leader
    where v.known and not v.leads and v.holder is distinct from share_venue_leases.process
      and (
        l.holder = share_venue_leases.process
        or l.venue_id in (select t.venue_id from taken_over t union all select t.venue_id from taken_from_others t)
      )
  ),
  taken as (
    insert into venue_lease as w (region_id, venue_id, process)
    select h.region_id, t.venue_id, share_venue_leases.process
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
  where v.known and (v.holder = share_venue_leases.process or v.venue_id in (select t.venue_id from taken t));
end;
$$;

-- A probe releases its venue leases at shutdown, so that others take its venues at once. Its venues stay recorded until
-- then: incidents decided meanwhile name its build.
create function upkeep.release_venue_leases(region text, process uuid) returns void
language plpgsql security definer
set search_path = venuewatch, pg_temp
as $$
begin
  perform upkeep.require_region(region);
  update probe p
  set alive_until = '-infinity', seen_at = clock_timestamp()
  from region g
  where g.region = release_venue_leases.region and p.region_id = g.region_id
    and p.process = release_venue_leases.process;
end;
$$;
