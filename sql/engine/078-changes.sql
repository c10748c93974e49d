-- The states that a tick changed: `since` is the tick that confirmed a state. `component_id` null: of the venue.
create function engine.changed_states(at timestamptz)
returns table (venue_id smallint, component_id integer, state state)
language sql stable
as $$
  select s.venue_id, null, s.state
  from venue_state s
  where s.since = at
  union all
  select c.venue_id, s.component_id, s.state
  from component_state s
  join component c using (component_id)
  where s.since = at
$$;

-- Keeps which state each venue and component had when. What is no longer watched, or is forgotten after a pause, has
-- ended its state already.
create function engine.store_state_changes(at timestamptz, decided_at timestamptz) returns void
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
begin
  -- apart, so that each finds its open rows by the index
  update state_change k
  set ended_at = at
  from component_state s
  where s.since = at and k.component_id = s.component_id and k.ended_at is null;

  update state_change k
  set ended_at = at
  from venue_state s
  where s.since = at and k.component_id is null and k.venue_id = s.venue_id and k.ended_at is null;

  insert into state_change (venue_id, component_id, state, started_at, recorded_at)
  select n.venue_id, n.component_id, n.state, at, decided_at
  from engine.changed_states(at) n;
end;
$$;

-- Notes for clients that follow changes (/v1/events) what a tick changed, in its transaction. States first: a client
-- that hears of an incident then knows what is down.
create function engine.write_changes(
  at timestamptz,
  decided_at timestamptz,
  opened text[],
  escalated text[],
  closed text[],
  retracted text[]
) returns void
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
begin
  insert into change_event (at, recorded_at, kind, venue_id, component_id, state, slug, started_at, maintenance)
  select
    at, decided_at, m.kind, m.venue_id, m.component_id, m.state, m.slug, m.started_at,
    case
      when m.kind <> 'component' and m.state in ('degraded', 'outage')
        then api.maintenance_beside(
          m.venue_id, coalesce(m.started_at, at), coalesce(m.opened_at, at), coalesce(m.last_bad_at, at)
        )
    end
  from (
    select
      case when n.component_id is null then 1 else 2 end as place,
      case when n.component_id is null then 'venue' else 'component' end as kind,
      n.venue_id,
      n.component_id,
      n.state,
      null as slug,
      null::timestamptz as started_at,
      null::timestamptz as opened_at,
      null::timestamptz as last_bad_at
    from engine.changed_states(at) n
    union all
    select
      w.place,
      w.kind,
      c.venue_id,
      i.component_id,
      -- as in its alerts
      case w.kind when 'closed' then i.peak_severity else i.severity end,
      i.slug,
      i.started_at,
      i.opened_at,
      i.last_bad_at
    from (
      select unnest(retracted), 'retracted', 3
      union all
      select unnest(closed), 'closed', 4
      union all
      select unnest(escalated), 'escalated', 5
      union all
      select unnest(opened), 'opened', 6
    ) as w (slug, kind, place)
    join incident i using (slug)
    join component c using (component_id)
  ) m
  order by m.place, m.venue_id, m.component_id;
end;
$$;
