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
as $$
begin
  insert into change_event (at, recorded_at, kind, venue_id, component_id, state, slug, started_at)
  select at, decided_at, m.kind, m.venue_id, m.component_id, m.state, m.slug, m.started_at
  from (
    -- `since` is the tick that confirmed a state
    select
      1 as place,
      'venue' as kind,
      s.venue_id,
      null::integer as component_id,
      s.state,
      null as slug,
      null::timestamptz as started_at
    from venue_state s
    where s.since = at
    union all
    select 2, 'component', c.venue_id, s.component_id, s.state, null, null
    from component_state s
    join component c using (component_id)
    where s.since = at
    union all
    select
      w.place,
      w.kind,
      c.venue_id,
      i.component_id,
      -- as in its alerts
      case w.kind when 'closed' then i.peak_severity else i.severity end,
      i.slug,
      i.started_at
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
