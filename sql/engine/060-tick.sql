-- One tick of the engine: everything it decides at one instant, in one transaction, from the samples alone.
--
-- The clock is a parameter, so that hours are walked in milliseconds by tests and by a core that was away. A tick at or
-- before the last one changes nothing and says so: an instant is decided once.
--
-- Returns {at, opened: [slug], escalated: [slug], closed: [slug]}, or null when it did nothing.
create function engine.tick(at timestamptz, r engine.rules, engine_version text) returns jsonb
language plpgsql
set search_path = venuewatch, public
as $$
declare
  opened    text[];
  escalated text[];
  closed    text[];
begin
  -- The clock's row is also the lock: a second tick waits here until the first is committed, and then sees all it did.
  insert into engine_clock as clock (ticked_at, version) values (at, engine_version)
  on conflict (only_row) do update set ticked_at = excluded.ticked_at, version = excluded.version
  where clock.ticked_at < excluded.ticked_at;
  if not found then
    return null;
  end if;

  perform engine.forget_unwatched();
  perform engine.keep_region_states(at, r);
  perform engine.keep_component_states(at);
  perform engine.keep_venue_states(at);

  closed := engine.close_incidents(at, r);
  escalated := engine.follow_open_incidents(at);
  opened := engine.open_incidents(at, r);

  return jsonb_build_object('at', at, 'opened', opened, 'escalated', escalated, 'closed', closed);
end;
$$;

-- What is no longer published has no state and no vote. Published again, it begins anew.
create function engine.forget_unwatched() returns void
language sql
begin atomic
  delete from region_state s
  using component c, venue v, region g
  where c.component_id = s.component_id and v.venue_id = c.venue_id and g.region_id = s.region_id
    and not (c.published and v.published and g.published);

  delete from component_state s
  using component c, venue v
  where c.component_id = s.component_id and v.venue_id = c.venue_id
    and not (c.published and v.published);

  delete from venue_state s
  using venue v
  where v.venue_id = s.venue_id and not v.published;
end;

create function engine.keep_region_states(at timestamptz, r engine.rules) returns void
language plpgsql
as $$
declare
  longest_span interval := (
    select max(engine.judged_span(c.cadence_ms, r))
    from component c
    join venue v using (venue_id)
    where c.published and v.published
  );
  judged_since timestamptz := at - longest_span;
begin
  insert into region_state as kept
    (component_id, region_id, state, since, reporting, samples, bad, bad_run, newest_at, newest_fault, p50_us, faults)
  select
    v.component_id, v.region_id, v.state, at, v.reporting, v.samples, v.bad, v.bad_run, v.newest_at, v.newest_fault,
    v.p50_us, v.faults
  from engine.region_verdicts(judged_since, at, r) v
  on conflict (component_id, region_id) do update set
    state = excluded.state,
    since = case when kept.state = excluded.state then kept.since else excluded.since end,
    reporting = excluded.reporting,
    samples = excluded.samples,
    bad = excluded.bad,
    bad_run = excluded.bad_run,
    newest_at = excluded.newest_at,
    newest_fault = excluded.newest_fault,
    p50_us = excluded.p50_us,
    faults = excluded.faults;

  -- a series that fell silent has no row in its window any more; its last sample stays as what was known
  update region_state s
  set state = 'unknown',
      since = case when s.state = 'unknown' then s.since else at end,
      reporting = false, samples = 0, bad = 0, bad_run = 0, newest_fault = null, p50_us = null, faults = '{}'
  from component c
  where c.component_id = s.component_id
    and (s.newest_at is null or s.newest_at <= at - engine.judged_span(c.cadence_ms, r))
    and (s.reporting or s.samples > 0);
end;
$$;

create function engine.keep_component_states(at timestamptz) returns void
language sql
begin atomic
  insert into component_state as kept (component_id, state, since, reporting, quorum)
  select v.component_id, v.state, at, v.reporting, v.quorum
  from engine.component_votes() v
  on conflict (component_id) do update set
    state = excluded.state,
    since = case when kept.state = excluded.state then kept.since else excluded.since end,
    reporting = excluded.reporting,
    quorum = excluded.quorum
  where (kept.state, kept.reporting, kept.quorum) is distinct from (excluded.state, excluded.reporting, excluded.quorum);
end;

create function engine.keep_venue_states(at timestamptz) returns void
language sql
begin atomic
  insert into venue_state as kept (venue_id, state, since)
  select v.venue_id, v.state, at
  from engine.venue_verdicts() v
  on conflict (venue_id) do update set state = excluded.state, since = excluded.since
  where kept.state <> excluded.state;
end;

-- An open incident has the severity that its component has now, as long as that is bad. Reaching outage for the first
-- time is its escalation. Returns the slugs of those.
create function engine.follow_open_incidents(at timestamptz) returns text[]
language sql
begin atomic
  with followed as (
    update incident i
    set last_bad_at = at,
        severity = s.state,
        peak_severity = greatest(i.peak_severity, s.state),
        escalated_at = case when s.state > i.peak_severity then at else i.escalated_at end,
        evidence = case
          when s.state > i.peak_severity
            then i.evidence || jsonb_build_object('escalation', engine.evidence(i.component_id, at))
          else i.evidence
        end
    from component_state s
    where s.component_id = i.component_id
      and i.closed_at is null and i.retracted_at is null
      and s.state in ('degraded', 'outage')
    returning i.slug, i.escalated_at
  )
  select coalesce(array_agg(f.slug order by f.slug), '{}') from followed f where f.escalated_at = at;
end;

-- Which regions saw this incident, at its opening or its escalation?
create function engine.witnesses(evidence jsonb) returns text[]
language sql immutable
begin atomic
  select coalesce(array_agg(distinct vote ->> 'region'), '{}')
  from jsonb_array_elements((evidence -> 'opening' -> 'votes') || coalesce(evidence -> 'escalation' -> 'votes', '[]')) vote
  where vote ->> 'vote' in ('degraded', 'outage');
end;

-- Does a region that saw this incident see its end? When none of them is in the registry any more, nobody can.
create function engine.seen_to_end(of_component integer, evidence jsonb) returns boolean
language sql stable
begin atomic
  select bool_or(s.state = 'operational') is not false
  from region g
  left join region_state s on s.region_id = g.region_id and s.component_id = of_component
  where g.published and g.region = any (engine.witnesses(evidence));
end;

-- An incident closes when its component has been confirmed operational for the whole recovery hold, and a region that
-- saw it bad sees it well. Lack of evidence closes nothing: regions that fell silent in the middle of an outage have not
-- seen it end. Nor does a component that is no longer watched stay open for ever.
create function engine.close_incidents(at timestamptz, r engine.rules) returns text[]
language sql
begin atomic
  with closed as (
    update incident i
    set closed_at = at,
        evidence = i.evidence || jsonb_build_object('closing', coalesce(
          case when c.published and v.published then engine.evidence(i.component_id, at) end,
          jsonb_build_object('at', at, 'reason', 'the component is no longer watched')
        ))
    from component c
    join venue v using (venue_id)
    left join component_state s using (component_id)
    where c.component_id = i.component_id
      and i.closed_at is null and i.retracted_at is null
      and (
        (
          s.state = 'operational'
          and s.since <= at - engine.ms(r.recovery_hold_ms)
          and engine.seen_to_end(i.component_id, i.evidence)
        )
        or not (c.published and v.published)
      )
    returning i.slug
  )
  select coalesce(array_agg(c.slug order by c.slug), '{}') from closed c;
end;

-- An incident opens where a quorum finds the component bad and as many regions each see an unbroken run of bad samples.
create function engine.open_incidents(at timestamptz, r engine.rules) returns text[]
language sql
begin atomic
  with due as (
    select
      s.component_id,
      s.state as severity,
      c.component,
      c.kind,
      v.venue,
      engine.run_started_at(s.component_id, at, s.quorum, r.opening_bad_run) as started_at
    from component_state s
    join component c using (component_id)
    join venue v using (venue_id)
    where c.published and v.published
      and s.state in ('degraded', 'outage')
      and s.quorum <= (
        select count(*)
        from region_state g
        where g.component_id = s.component_id and g.reporting
          and g.state in ('degraded', 'outage')
          and g.bad_run >= r.opening_bad_run
      )
      and not exists (
        select from incident i
        where i.component_id = s.component_id and i.closed_at is null and i.retracted_at is null
      )
  ),
  named as (
    select
      d.*,
      -- by name, not by id: the same samples make the same slugs in every database
      row_number() over (
        partition by d.venue, d.kind, d.severity, (d.started_at at time zone 'UTC')::date
        order by d.started_at, d.component
      ) as nth
    from due d
  ),
  opened as (
    insert into incident
      (slug, component_id, severity, peak_severity, started_at, opened_at, escalated_at, last_bad_at, evidence)
    select
      engine.slug(n.venue, n.started_at, n.kind, n.severity, n.nth),
      n.component_id, n.severity, n.severity, n.started_at, at, null, at,
      jsonb_build_object('opening', engine.evidence(n.component_id, at))
    from named n
    order by n.started_at, n.venue, n.component
    returning slug
  )
  select coalesce(array_agg(o.slug order by o.slug), '{}') from opened o;
end;
