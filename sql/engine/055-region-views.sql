-- Chapter 5 of docs/rulebook.md: what one region by itself sees. Shown to those who ask for it; nothing is decided by
-- it.

-- Only changes are written. Generic plan: planning these statements takes longer than running them.
create function engine.store_region_views(at timestamptz) returns void
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
begin
  with impaired as materialized (
    select engine.impaired_regions(at, at) as region_id
  ),
  seen as (
    select
      s.component_id,
      s.region_id,
      case
        when s.reporting and s.region_id not in (select i.region_id from impaired i) and u.component_id is null
          then s.state
        else 'unknown'
      end as state
    from region_state s
    left join engine.unproven(at) u using (component_id)
  )
  update region_state s
  set sees = n.state, sees_since = at
  from seen n
  where s.component_id = n.component_id and s.region_id = n.region_id and s.sees is distinct from n.state;

  insert into region_venue_state as kept (region_id, venue_id, state, since)
  select g.region_id, v.venue_id, v.state, at
  from region g
  cross join engine.venue_verdicts(at, g.region_id) v
  left join region_venue_state k on k.region_id = g.region_id and k.venue_id = v.venue_id
  where g.published and k.state is distinct from v.state
  on conflict (venue_id, region_id) do update set state = excluded.state, since = excluded.since;
end;
$$;

-- Notes for clients that follow one region (/v1/events?region=) what a tick changed there.
create function engine.write_region_changes(at timestamptz, decided_at timestamptz) returns void
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
begin
  insert into change_event (at, recorded_at, kind, venue_id, component_id, region_id, state)
  select at, decided_at, m.kind, m.venue_id, m.component_id, m.region_id, m.state
  from (
    select 'venue' as kind, s.venue_id, null::integer as component_id, s.region_id, s.state
    from region_venue_state s
    where s.since = at
    union all
    select 'component', c.venue_id, s.component_id, s.region_id, s.sees
    from region_state s
    join component c using (component_id)
    where s.sees_since = at
  ) m
  order by m.kind desc, m.venue_id, m.component_id, m.region_id;
end;
$$;
