-- Chapter 6 of docs/rulebook.md: the life of incidents. Each function does one step of it at an instant and returns the
-- slugs of the incidents that changed. Rare cases are detected first from small tables; only then are samples read.

create function engine.open_incidents_of(of_components integer[]) returns setof incident
language sql stable
as $$
  select i.*
  from incident i
  where i.closed_at is null and i.retracted_at is null
    and (of_components is null or i.component_id = any (of_components))
$$;

-- Incidents that operators retracted while open, as long as the trouble lasts. The engine's own retractions have
-- evidence.
create function engine.dismissed() returns setof incident
language sql stable
as $$
  select i.*
  from incident i
  where i.retracted_at is not null and i.retraction_evidence is null
    and i.closed_at is null and i.dismissed_until is null
$$;

-- An operator's retraction holds until the component is operational. Silence does not end it.
create function engine.end_dismissals(at timestamptz) returns void
language plpgsql
as $$
begin
  update incident i
  set dismissed_until = at
  from engine.dismissed() d
  join component_state s using (component_id)
  where i.incident_id = d.incident_id and s.state = 'operational';
end;
$$;

-- Retracts recent incidents whose opening is no longer supported, given late samples and later recognised impairments.
create function engine.retract_incidents(at timestamptz, r engine.rules) returns text[]
language plpgsql
as $$
declare
  oldest_at timestamptz := at - engine.ms(r.retraction_ms);
  span      interval := engine.longest_span(r);
  since     timestamptz := oldest_at - span;
  retracted text[];
begin
  if date_bin(engine.ms(r.retraction_every_ms), at, 'epoch') <> at
    or not exists (
      select from incident i where i.opened_at > oldest_at and i.opened_at < at and i.retracted_at is null
    )
  then
    return '{}';
  end if;
  -- only if there is news: without it, the verdict is that of the opening
  with with_news as (
    select i.component_id, i.opened_at
    from incident i
    join component c using (component_id)
    join venue v using (venue_id)
    where i.opened_at > oldest_at and i.opened_at < at and i.retracted_at is null
      and c.published and v.published
      and (
        exists (
          select from impairment m
          where m.recognised_at > i.opened_at and m.recognised_at <= at and m.started_at <= i.opened_at
        )
        or exists (
          select from region g
          cross join lateral (
            select from sample s
            where s.component_id = i.component_id and s.region_id = g.region_id
              and s.ts > since
              and s.ts > i.opened_at - engine.looked_at_span(c.cadence_ms, r)
              and s.ts <= i.opened_at
              and s.ts > i.opened_at - s.received_after_s * interval '1 second'
              and s.ts <= at - s.received_after_s * interval '1 second'
              and engine.known_by(i.opened_at, at, s.received_after_s, c.cadence_ms, r) = at
            limit 1
          ) late
          where g.published
        )
      )
  ),
  openings as (
    select n.opened_at, array_agg(n.component_id) as components
    from with_news n
    group by n.opened_at
  ),
  -- by what was known then, and by what is known now; both with the current registry
  judged as materialized (
    select
      o.opened_at,
      k.known_at,
      e.component_id,
      e.evidence,
      (e.evidence ->> 'confirming')::int >= (e.evidence ->> 'quorum')::int as confirmed
    from openings o
    cross join lateral (values (o.opened_at), (at)) as k (known_at)
    cross join lateral engine.evidence(o.components, o.opened_at - span, o.opened_at, k.known_at, r) e
  ),
  -- if what was known then does not confirm it either, the registry has changed
  judged_anew as (
    select j.opened_at, j.component_id, j.evidence
    from judged j
    join judged was using (opened_at, component_id)
    where j.known_at = at and not j.confirmed
      and was.known_at = was.opened_at and was.confirmed
  ),
  unbacked as (
    update incident i
    set retracted_at = at,
        retraction_reason = format(
          'Recomputed with what was known at %s, %s of %s counted regions see it bad; the quorum is %s.%s',
          api.iso(at), j.evidence ->> 'confirming', j.evidence ->> 'reporting', j.evidence ->> 'quorum',
          (
            select ' Not counted because impaired: ' || string_agg(n ->> 'region', ', ') || '.'
            from jsonb_array_elements(j.evidence -> 'notCounted') n
            where n ->> 'reason' like 'impaired%'
          )
        ),
        retraction_evidence = j.evidence
    from judged_anew j
    where i.component_id = j.component_id and i.opened_at = j.opened_at and i.retracted_at is null
    returning i.incident_id, i.slug
  ),
  dropped as (
    update alert_event e
    set dropped_at = clock_timestamp()
    from unbacked u
    where e.incident_id = u.incident_id and e.dispatched_at is null
  )
  select coalesce(array_agg(u.slug order by u.slug), '{}') into retracted from unbacked u;
  return retracted;
end;
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

-- What the counted regions see of some components.
create function engine.counted_states(of_components integer[], at timestamptz) returns setof region_state
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
$$;

-- Until when a quorum saw a component bad: take the newest bad sample of each counted region that sees it bad, and of
-- these the one at the position of the quorum. A window stays bad for most of a minute after that.
create function engine.last_bad_at(of_components integer[], at timestamptz)
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
    from engine.counted_states(of_components, at) s
    where engine.is_bad(s.state)
  ) n using (component_id)
  where n.place = c.quorum
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
  left join engine.last_bad_at(open, at) n using (component_id)
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

-- The permanent name of an incident, without the number that distinguishes incidents of the same name.
create function engine.slug_base(venue text, started_at timestamptz, kind text, severity state) returns text
language sql stable
return format('%s-%s-%s-%s', venue, to_char(started_at at time zone 'UTC', 'YYYY-MM-DD'), kind, severity);

-- Counted regions that confirm trouble of a component: three bad samples in a row, or a fifth fails in window after
-- window.
create function engine.confirming_regions(of_components integer[], at timestamptz, r engine.rules)
returns table (component_id integer, region_id smallint, in_a_row boolean)
language sql stable
as $$
  select s.component_id, s.region_id, s.bad_run >= r.opening_bad_run
  from engine.counted_states(of_components, at) s
  where engine.is_bad(s.state)
    and (s.bad_run >= r.opening_bad_run or s.in_part)
$$;

-- When the trouble began that a quorum of regions confirms. In each region, with the first bad sample after its last
-- good one, or, for a partial failure, with the first failed sample in its windows; of these, the one that completed
-- the quorum. Reads the recorded samples in a replay too, because its copy does not reach back far enough.
--
-- A run does not extend over a silence. Silences are looked for only after the instant that would otherwise complete
-- the quorum: earlier ones make no difference, and a blocked region has a week of bad samples.
create function engine.runs_started_at(of_components integer[], at timestamptz, r engine.rules)
returns table (component_id integer, started_at timestamptz)
language sql stable
as $$
  with runs as (
    select
      s.component_id,
      s.region_id,
      s.in_a_row,
      k.quorum,
      l.streams,
      l.max_age,
      l.slow_from_us,
      o.spans as ours,
      row_number() over (partition by s.component_id order by first_bad.ts, s.region_id) as place,
      first_bad.ts
    from engine.confirming_regions(of_components, at, r) s
    join component c using (component_id)
    join component_state k using (component_id)
    left join engine.own_trouble(at - interval '7 days', at, at) o on o.region_id = s.region_id
    left join typical_latency t
      on t.component_id = s.component_id and t.region_id = s.region_id
      and t.holds_from = engine.typical_in_force(at)
    cross join lateral (
      select
        engine.slow_from_us(c.kind, t.p50_us, r) as slow_from_us,
        engine.vote_max_age(c.cadence_ms, r) as max_age,
        c.kind = 'ws' and c.component <> 'ws:conn' as streams
    ) l
    cross join lateral (
      select max(g.ts) as ts
      from venuewatch.sample g
      where s.in_a_row
        and g.component_id = s.component_id and g.region_id = s.region_id
        and g.good and (g.latency_us >= l.slow_from_us) is not true
        and g.ts <= at and g.ts > at - interval '7 days'
        and g.ts <= at - g.received_after_s * interval '1 second'
    ) last_well
    cross join lateral (
      select min(b.ts) as ts
      from venuewatch.sample b
      where b.component_id = s.component_id and b.region_id = s.region_id
        and b.ts <= at
        and b.ts > case
          when s.in_a_row then coalesce(last_well.ts, at - interval '7 days')
          else at - engine.partial_span(c.cadence_ms, r)
        end
        and (s.in_a_row or not b.good)
        and not (l.streams and b.unserved is true)
        and b.ts <= at - b.received_after_s * interval '1 second'
        and engine.counts(b.ts, b.good, b.latency_us, l.slow_from_us, o.spans)
    ) first_bad
  ),
  resumed as (
    select
      u.component_id,
      u.quorum,
      u.region_id,
      greatest(u.ts, silence.ended_at) as ts
    from runs u
    join runs q on q.component_id = u.component_id and q.place = q.quorum
    cross join lateral (
      select max(n.ts) as ended_at
      from (
        select b.ts, b.ts - lag(b.ts, 1, q.ts - u.max_age) over (order by b.ts) as after
        from venuewatch.sample b
        where u.in_a_row
          and b.component_id = u.component_id and b.region_id = u.region_id
          and b.ts > q.ts - u.max_age and b.ts <= at
          and not (u.streams and b.unserved is true)
          and b.ts <= at - b.received_after_s * interval '1 second'
          and engine.counts(b.ts, b.good, b.latency_us, u.slow_from_us, u.ours)
      ) n
      where n.after > u.max_age and n.ts > u.ts
    ) silence
  ),
  placed as (
    select e.*, row_number() over (partition by e.component_id order by e.ts, e.region_id) as place
    from resumed e
  )
  select p.component_id, p.ts
  from placed p
  where p.place = p.quorum
$$;

-- Components that must wait, because the quorum depends on vantages whose own network may be failing. A region still
-- confirms what it has seen bad for long.
create function engine.suspect_components(of_components integer[], at timestamptz, r engine.rules) returns setof integer
language sql stable
as $$
  select c.component_id
  from engine.confirming_regions(of_components, at, r) s
  join component_state c using (component_id)
  join region_state k using (component_id, region_id)
  join engine.vantages(at) g using (region_id)
  group by c.component_id, c.quorum
  having count(*) filter (
    where k.bad_since <= at - engine.ms(r.impaired_within_ms)
      or g.vantage not in (select engine.suspect_vantages(at, r))
  ) < c.quorum
$$;

-- Opens an incident if a quorum finds the component bad and as many regions confirm it.
create function engine.open_incidents(at timestamptz, r engine.rules) returns text[]
language plpgsql
as $$
declare
  bad    integer[];
  due    integer[];
  since  timestamptz := at - engine.longest_span(r);
  opened text[];
begin
  bad := array(select c.component_id from component_state c where engine.is_bad(c.state));
  if bad = '{}' then
    return '{}';
  end if;
  select array_agg(d.component_id) into due
  from (
    select c.component_id
    from component_state c
    join engine.confirming_regions(bad, at, r) s using (component_id)
    where not exists (select from engine.open_incidents_of(null) i where i.component_id = c.component_id)
      and not exists (
        -- an operator has retracted this trouble, at this severity or worse
        select from engine.dismissed() d
        where d.component_id = c.component_id and d.peak_severity >= c.state
      )
    group by c.component_id, c.quorum
    having count(*) >= c.quorum
  ) d;
  if due is null then
    return '{}';
  end if;
  due := array(select unnest(due) except select engine.suspect_components(due, at, r));
  if due = '{}' then
    return '{}';
  end if;

  with started as (
    select
      c.component_id,
      c.component,
      s.state as severity,
      n.started_at,
      greatest(n.started_at, b.last_bad_at) as last_bad_at,
      engine.slug_base(v.venue, n.started_at, c.kind, s.state) as base,
      (
        select count(*) + 1 >= r.flap_openings
        from incident i
        where i.component_id = c.component_id and i.retracted_at is null
          and i.opened_at > at - engine.ms(r.flap_within_ms)
      ) as flapping
    from engine.runs_started_at(due, at, r) n
    join component c using (component_id)
    join venue v using (venue_id)
    join component_state s using (component_id)
    left join engine.last_bad_at(due, at) b using (component_id)
  ),
  taken as (
    -- only the days in question; retracted incidents keep their names
    select regexp_replace(i.slug, '(degraded|outage)-[0-9]+$', '\1') as base, count(*) as n
    from incident i
    where i.started_at >= (select date_trunc('day', min(s.started_at), 'UTC') from started s)
    group by 1
  ),
  named as (
    select
      s.*,
      -- by name, not by id: the same samples make the same slugs in every database
      coalesce(t.n, 0) + row_number() over (partition by s.base order by s.started_at, s.component) as nth
    from started s
    left join taken t using (base)
  ),
  added as (
    insert into incident (
      slug, component_id, severity, peak_severity, started_at, opened_at, last_bad_at, flapping, evidence
    )
    select
      n.base || case when n.nth > 1 then '-' || n.nth else '' end,
      n.component_id, n.severity, n.severity, n.started_at, at, n.last_bad_at, n.flapping,
      jsonb_build_object('opening', e.evidence)
    from named n
    join engine.evidence(due, since, at, at, r) e using (component_id)
    order by n.started_at, n.base, n.nth
    returning slug
  )
  select coalesce(array_agg(a.slug order by a.slug), '{}') into opened from added a;
  return opened;
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
