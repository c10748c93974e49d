-- Whether a probe withholds its samples because its clock is certainly wrong by more than it tolerates: the other
-- probes of its region take over its venues. The number is that of probe/measure/clock-error.ts.
create function upkeep.withholds(clock_error_ms float8, clock_error_within_ms float8) returns boolean
language sql immutable parallel safe
return coalesce(abs(clock_error_ms) - clock_error_within_ms > 2000, false);

-- A probe's heartbeat, which also asks for the venues that it measures.
--
-- lease_ms: how long the heartbeat is valid; unmeasured_by: its unmeasured slots so far by reason, a JSON object;
-- troubles: its own, a JSON array; clock_error_ms and clock_error_within_ms: the error of its clock, and the
-- uncertainty of that, or null; known_venues: ids of the venues in its registry; vantage_name, vantage_place and
-- vantage_network: its vantage, or nulls; machine: the fingerprint of its machine, or null.
--
-- One row: the venues that it holds, in the registry's order and without those that have ended; and `settled`, whether
-- the distribution is complete: if not, call share_venue_leases. No row if there is no such region.
--
-- PL/pgSQL, because a connection keeps its plan. Planned at each call, it took the embedded database twice the time.
create function upkeep.renew_probe(
  region                text,
  process               uuid,
  version               text,
  started_at            timestamptz,
  lease_ms              int,
  unmeasured_by         jsonb,
  troubles              jsonb,
  clock_error_ms        float8,
  clock_error_within_ms float8,
  known_venues          text[],
  vantage_name          text,
  vantage_place         text,
  vantage_network       text,
  machine               text
) returns table (venues text[], settled boolean)
language plpgsql security definer
set search_path = venuewatch, pg_temp
as $$
#variable_conflict use_column
begin
  perform upkeep.require_region(region);
  return query
  with here as materialized (
    select g.region_id from region g where g.region = renew_probe.region
  ),
  kept as (
    insert into probe as p (
      region_id, process, version, started_at, seen_at, alive_until, unmeasured, unmeasured_by, troubles,
      clock_error_ms, clock_error_within_ms, vantage_name, vantage_place, vantage_network, machine
    )
    select
      h.region_id,
      renew_probe.process,
      renew_probe.version,
      renew_probe.started_at,
      clock_timestamp(),
      clock_timestamp() + renew_probe.lease_ms * interval '1 millisecond',
      (select coalesce(sum(u.slots::bigint), 0) from jsonb_each_text(renew_probe.unmeasured_by) as u (reason, slots)),
      renew_probe.unmeasured_by, renew_probe.troubles, renew_probe.clock_error_ms, renew_probe.clock_error_within_ms,
      renew_probe.vantage_name, renew_probe.vantage_place, renew_probe.vantage_network, renew_probe.machine
    from here h
    on conflict (region_id, process) do update set
      version = excluded.version, started_at = excluded.started_at, seen_at = excluded.seen_at,
      alive_until = excluded.alive_until, unmeasured = excluded.unmeasured, unmeasured_by = excluded.unmeasured_by,
      troubles = excluded.troubles,
      clock_error_ms = excluded.clock_error_ms, clock_error_within_ms = excluded.clock_error_within_ms,
      vantage_name = excluded.vantage_name, vantage_place = excluded.vantage_place,
      vantage_network = excluded.vantage_network, machine = excluded.machine
  ),
  watched as (
    select
      v.venue_id,
      v.venue,
      v.position,
      case when v.category = 'rpc' then v.chain end as chain,
      coalesce(w.process = renew_probe.process, false) as mine,
      w.process is null
        or (
          w.process <> renew_probe.process
          and not coalesce(
            p.alive_until > clock_timestamp() and not upkeep.withholds(p.clock_error_ms, p.clock_error_within_ms), false
          )
        ) as free,
      n.known_as,
      n.known_as is not null as known
    from here h
    cross join venue v
    left join venue_lease w on w.region_id = h.region_id and w.venue_id = v.venue_id
    left join probe p on p.region_id = h.region_id and p.process = w.process
    -- a registry from before the venue was renamed knows it by a former id, and gets that one
    cross join lateral (
      select case
        when v.venue = any (renew_probe.known_venues) then v.venue
        else (
          select f.id
          from unnest(v.former_ids) with ordinality as f (id, place)
          where f.id = any (renew_probe.known_venues)
          order by f.place
          limit 1
        )
      end as known_as
    ) n
    where v.published and (v.ends_at <= clock_timestamp()) is not true
  ),
  -- The providers of a chain, and the chain, go together (share_venue_leases): they count as their first.
  grouped as (
    select w.*, w.position = min(w.position) over g as leads, first_value(w.mine) over (g order by w.position) as led
    from watched w
    window g as (partition by w.chain, case when w.chain is null then w.venue_id end)
  ),
  -- The vantage of all living probes of the region: this one as it reports now, the others as they last reported. Null
  -- if they disagree about the machine, place, …, or one of them does not report it.
  vantage as (
    select
      h.region_id,
      case when count(*) = count(s.machine) and count(distinct s.machine) = 1 then min(s.machine) end as machine,
      case when count(*) = count(s.name) and count(distinct s.name) = 1 then min(s.name) end as name,
      case when count(*) = count(s.place) and count(distinct s.place) = 1 then min(s.place) end as place,
      case when count(*) = count(s.network) and count(distinct s.network) = 1 then min(s.network) end as network
    from here h
    cross join lateral (
      select
        renew_probe.machine as machine,
        renew_probe.vantage_name as name,
        renew_probe.vantage_place as place,
        renew_probe.vantage_network as network
      union all
      select p.machine, p.vantage_name, p.vantage_place, p.vantage_network
      from probe p
      where p.region_id = h.region_id and p.process <> renew_probe.process and p.alive_until > clock_timestamp()
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
    -- without any report no row is needed
    where (v.machine, v.name, v.place, v.network) is distinct from (w.machine, w.name, w.place, w.network)
    -- one change already waits for a tick: the next heartbeat reports the latest
    on conflict do nothing
  ),
  living as (
    select a.process, row_number() over (order by a.process) as place, count(*) over () as probes
    from (
      select p.process
      from here h
      join probe p using (region_id)
      where p.process <> renew_probe.process and p.alive_until > clock_timestamp()
        and not upkeep.withholds(p.clock_error_ms, p.clock_error_within_ms)
      union all
      select renew_probe.process
      where not upkeep.withholds(renew_probe.clock_error_ms, renew_probe.clock_error_within_ms)
    ) a
  )
  select
    coalesce(
      (select array_agg(w.known_as order by w.position, w.venue) from watched w where w.mine and w.known), '{}'
    ) as venues,
    l.process is null
      or not exists (select from grouped w where w.known and (w.free or w.led and not w.mine))
      and (select count(*) from grouped w where w.leads and w.mine)
        >= (select count(*) from grouped w where w.leads) / l.probes
          + (l.place <= (select count(*) from grouped w where w.leads) % l.probes)::int as settled
  from here
  -- null for a probe that withholds its samples: it takes no venue
  left join living l on l.process = renew_probe.process;
end;
$$;
