-- Chapter 6 of docs/rulebook.md: how open incidents are followed and closed, and the alerts about all incidents. Each
-- function does one step at an instant and returns the slugs of the incidents that changed. Rare cases are detected
-- first from small tables; only then are samples read.

create function engine.open_incidents_of(of_components integer[]) returns setof incident
language sql stable
as $$
  select i.*
  from incident i
  where i.closed_at is null and i.retracted_at is null
    and (of_components is null or i.component_id = any (of_components))
$$;

-- What the counted regions see of some components.
create function engine.counted_states(of_components integer[], at timestamptz, r engine.rules)
returns setof region_state
language sql stable
as $$
  select s.*
  from region_state s
  where s.component_id = any (of_components)
    and s.reporting
    and s.region_id <> all (array(select engine.impaired_regions(at, at)))
    and not exists (
      select from engine.outliers(at) o where o.component_id = s.component_id and o.region_id = s.region_id
    )
    and not exists (
      select from engine.lone_refusals(at, r) l where l.component_id = s.component_id and l.region_id = s.region_id
    )
$$;

-- Until when a quorum saw a component bad: take the newest bad sample of each counted region that sees it bad, and of
-- these the one at the position of the quorum. A window stays bad for most of a minute after that.
create function engine.last_bad_at(of_components integer[], at timestamptz, r engine.rules)
returns table (component_id integer, last_bad_at timestamptz)
language sql stable
as $$
  select c.component_id, n.newest_bad_at
  from component_state c
  join (
    select
      s.component_id,
      s.newest_bad_at,
      row_number() over (partition by s.component_id order by s.newest_bad_at desc) as place
    from engine.counted_states(of_components, at, r) s
    where engine.is_bad(s.state)
  ) n using (component_id)
  where n.place = c.quorum
$$;

-- The regions that saw this incident at its opening or escalation.
create function engine.witnesses(evidence jsonb) returns text[]
language sql immutable
as $$
  select coalesce(array_agg(distinct vote ->> 'region'), '{}')
  from jsonb_array_elements(
    (evidence -> 'opening' -> 'votes') || coalesce(evidence -> 'escalation' -> 'votes', '[]')
  ) vote
  where vote ->> 'vote' in ('degraded', 'outage')
$$;

-- Whether a region that saw this incident sees its end.
create function engine.seen_to_end(of_component integer, evidence jsonb, at timestamptz) returns boolean
language sql stable
as $$
  select bool_or(
    -- a region without a known state sees nothing, good or bad
    s.state is not distinct from 'operational' and g.region_id <> all (array(select engine.impaired_regions(at, at)))
  ) is true
  from region g
  left join region_state s on s.region_id = g.region_id and s.component_id = of_component
  where g.published and g.region = any (engine.witnesses(evidence))
$$;

-- Why an open incident ends now; null: it continues. It ends when its component has been operational for the whole
-- hold, and a region that saw it bad sees it well. If none of these can report, a quorum that is well for the longer
-- hold is enough; and no incident stays open because no region can see its end.
create function engine.reason_to_close(
  watched boolean,
  ended boolean,
  state state,
  since timestamptz,
  not_bad_since timestamptz,
  flapping boolean,
  of_component integer,
  evidence jsonb,
  at timestamptz,
  r engine.rules
) returns text
language sql stable
return case
  when not watched then 'the component is no longer watched'
  when ended then 'what it measures has ended, by the date in its entry'
  when state = 'operational'
    and since <= at - engine.ms(case when flapping then r.flap_hold_ms else r.recovery_hold_ms end)
    and engine.seen_to_end(of_component, evidence, at)
  then 'a region that saw it sees it well, and a quorum has for the whole hold'
  when state = 'operational' and since <= at - engine.ms(r.flap_hold_ms)
    -- matters only if the rules make the longer hold the shorter one
    and not engine.seen_to_end(of_component, evidence, at)
  then 'a quorum has seen it well for the longer hold; no region that saw the incident can report that'
  when not_bad_since <= at - engine.ms(r.unmeasured_close_ms)
  then 'no quorum has seen it bad, or well for the whole hold, for so long that its end is unknown'
end;

create function engine.close_incidents(at timestamptz, r engine.rules) returns text[]
language plpgsql
as $$
declare
  over     bigint[];
  reasons  text[];
  watched  integer[];
  since    timestamptz := at - engine.longest_span(r);
  closed   text[];
begin
  select
    array_agg(i.incident_id),
    array_agg(w.reason),
    array_agg(i.component_id) filter (where c.published and v.published)
  into over, reasons, watched
  from engine.open_incidents_of(null) i
  join component c using (component_id)
  join venue v using (venue_id)
  left join component_state s using (component_id)
  cross join lateral engine.reason_to_close(
    c.published and v.published,
    (c.ends_at <= at) is true,
    s.state,
    -- An incident restored after a failover started in the lost history, so the known state of its component is older
    -- than it.
    greatest(s.since, i.opened_at),
    case when s.not_bad_since is not null then greatest(s.not_bad_since, i.opened_at) end,
    i.flapping, i.component_id, i.evidence, at, r
  ) as w (reason)
  where w.reason is not null
    and i.opened_at <= at;
  if over is null then
    return '{}';
  end if;
  with ended as (
    update incident i
    set closed_at = at,
        evidence = i.evidence || jsonb_build_object(
          'closing', coalesce(e.evidence, jsonb_build_object('at', api.iso(at), 'reason', o.reason)),
          'closedBecause', o.reason
        )
    from unnest(over, reasons) as o (incident_id, reason)
    join incident n using (incident_id)
    left join engine.evidence(watched, since, at, at, r) e using (component_id)
    where i.incident_id = o.incident_id and i.retracted_at is null
    returning i.slug
  )
  select array_agg(e.slug order by e.slug) into closed from ended e;
  return closed;
end;
$$;

-- An open incident takes the current severity of its component as long as that is bad. Reaching outage for the first
-- time is its escalation. Returns the slugs of those.
create function engine.follow_open_incidents(at timestamptz, r engine.rules) returns text[]
language plpgsql
as $$
declare
  open      integer[] := array(select i.component_id from engine.open_incidents_of(null) i);
  worse     integer[];
  since     timestamptz := at - engine.longest_span(r);
  escalated text[];
begin
  if open = '{}' then
    return '{}';
  end if;
  update incident i
  set severity = s.state,
      last_bad_at = greatest(i.last_bad_at, n.last_bad_at)
  from component_state s
  left join engine.last_bad_at(open, at, r) n using (component_id)
  where s.component_id = i.component_id
    and i.closed_at is null and i.retracted_at is null
    and engine.is_bad(s.state)
    and (i.severity <> s.state or n.last_bad_at > i.last_bad_at)
    -- not an incident restored after a failover, at instants that are decided again
    and i.opened_at <= at;

  select array_agg(i.component_id) into worse
  from engine.open_incidents_of(null) i
  where i.severity > i.peak_severity;
  if worse is null then
    return '{}';
  end if;
  with risen as (
    update incident i
    set peak_severity = i.severity,
        escalated_at = at,
        evidence = i.evidence || jsonb_build_object('escalation', e.evidence)
    from engine.evidence(worse, since, at, at, r) e
    where i.component_id = e.component_id and i.closed_at is null and i.retracted_at is null
    returning i.slug
  )
  select array_agg(e.slug order by e.slug) into escalated from risen e;
  return escalated;
end;
$$;

-- Writes an alert for each change, in the same transaction, so that it exists if and only if the change was decided.
create function engine.write_alerts(
  at timestamptz,
  decided_at timestamptz,
  opened text[],
  escalated text[],
  closed text[],
  r engine.rules
) returns void
language plpgsql
as $$
begin
  insert into alert_event (incident_id, kind, severity, at, recorded_at, late)
  select
    i.incident_id,
    m.kind,
    -- receivers of an outage must also receive its end
    case m.kind when 'closed' then i.peak_severity else i.severity end,
    at,
    decided_at,
    decided_at - at > engine.ms(r.late_alert_ms)
  from (
    select unnest(closed), 'closed', 1
    union all
    select unnest(escalated), 'escalated', 2
    union all
    select unnest(opened), 'opened', 3
  ) as m (slug, kind, place)
  join incident i using (slug)
  order by m.place, i.incident_id;
end;
$$;
