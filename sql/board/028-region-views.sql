-- What one region by itself sees, for those who ask "is it down, or just me?": of each component, and of each venue. It
-- is what the region's samples say now. It confirms nothing: one region cannot tell a venue that is down from one that
-- it cannot reach.
--
-- `unknown_because`: never, ended (as for all regions; table unjudged), impaired (the region's own network is in
-- trouble), silent (its newest sample is too old), unmeasured (it has none); null if it is known, or unknown for want
-- of samples or of a decision.
create view api.region_view as
select
  r.component_id,
  r.venue_id,
  r.region_id,
  r.newest_at,
  v.state,
  case
    -- the region has never measured it
    when s.sees_since is null then least(w.watched_from, k.ticked_at, k.silent_at)
    when k.engine_fresh then s.sees_since
    else least(k.silent_at, case when s.sees = 'unknown' then s.sees_since end)
  end as since,
  case when engine.is_bad(v.state) then r.newest_fault end as fault,
  case
    when v.state <> 'unknown' or not k.engine_fresh then null
    when c.unjudged in ('never', 'ended') then c.unjudged
    when r.region_id in (select i.region_id from api.impaired_region i) then 'impaired'
    when r.newest_at is null then 'unmeasured'
    when not r.reporting then 'silent'
  end as unknown_because
from api.region_state r
join api.component_state c using (component_id)
join component w using (component_id)
cross join api.clock k
left join region_state s on s.component_id = r.component_id and s.region_id = r.region_id
cross join lateral (
  select case when k.engine_fresh then coalesce(s.sees, 'unknown') else 'unknown' end as state
) v;

-- Why a region sees nothing, in the form of api.unknown_because and with its words.
create function api.unseen_because(reason text, of_component integer, of_region smallint, newest_at timestamptz)
returns json
language sql stable
return case
  when reason in ('never', 'ended') then api.unknown_because(of_component, reason)
  when reason is not null then (
    select json_build_object(
      'reason', reason,
      'detail', case reason
        when 'impaired' then format(
          'the network of %s itself has been in trouble since %s: '
            'most venues fail there at once, and in no other region',
          g.region, (select api.iso(i.since) from api.impaired_region i where i.region_id = of_region)
        )
        when 'silent' then format('no measurement has come from %s since %s', g.region, api.iso(newest_at))
        else format('no measurement has come from %s', g.region)
      end
    )
    from region g
    where g.region_id = of_region
  )
end;

-- How each region sees a venue: {region, name, state, since, unknownBecause, dissent}. `dissent` are the components
-- that it sees otherwise than all regions together: {component, state, since, fault}. `is_apart`: it sees the venue or
-- one of them otherwise, or cannot tell.
--
-- plpgsql, because its plan is cached, as api.board's is.
create function api.venue_views(of_venue smallint) returns table (region_id smallint, is_apart boolean, body json)
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  with dissent as (
    select
      r.region_id,
      json_agg(
        json_build_object('component', c.component, 'state', r.state, 'since', api.iso(r.since), 'fault', r.fault)
        order by c.position
      ) as components
    from api.region_view r
    join api.component c using (component_id)
    join api.component_state s using (component_id)
    where r.venue_id = of_venue and r.state <> 'unknown' and r.state <> s.state
    group by r.region_id
  ),
  unseen as (
    -- nothing of the venue, if it is so of every component that the region should see
    select
      r.region_id,
      -- in this order: impaired, silent, unmeasured
      case when bool_and(r.unknown_because is not null) then min(r.unknown_because) end as because,
      max(r.newest_at) as newest_at
    from api.region_view r
    where r.venue_id = of_venue and (r.unknown_because in ('never', 'ended')) is not true
    group by r.region_id
  )
  select
    g.region_id,
    v.state <> 'unknown' and v.state <> a.state or d.components is not null or u.because is not null,
    row_to_json(b)
  from region g
  cross join api.venue a
  cross join api.clock k
  left join region_venue_state s on s.region_id = g.region_id and s.venue_id = a.venue_id
  left join dissent d on d.region_id = g.region_id
  left join unseen u on u.region_id = g.region_id
  cross join lateral (
    select case when k.engine_fresh then coalesce(s.state, 'unknown') else 'unknown' end as state
  ) v
  cross join lateral (
    select
      g.region,
      g.name,
      v.state,
      api.iso(
        case
          when k.engine_fresh then coalesce(s.since, k.ticked_at)
          else least(k.silent_at, case when s.state = 'unknown' then s.since end)
        end
      ) as since,
      api.unseen_because(u.because, null, g.region_id, u.newest_at) as "unknownBecause",
      coalesce(d.components, '[]') as dissent
  ) b
  where g.published and a.venue_id = of_venue
  order by g.position;
end;
$$;
