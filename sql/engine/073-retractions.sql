-- Chapter 6 of docs/rulebook.md: taking back incidents, by operators and by the engine itself.

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
  judged_again as (
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
          api.iso(at), j.evidence ->> 'confirming', j.evidence ->> 'counted', j.evidence ->> 'quorum',
          (
            select ' Not counted because impaired: ' || string_agg(n ->> 'region', ', ') || '.'
            from jsonb_array_elements(j.evidence -> 'notCounted') n
            where n ->> 'reason' like 'impaired%'
          )
        ),
        retraction_evidence = j.evidence
    from judged_again j
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
