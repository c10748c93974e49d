-- A replay decides a past period again, with the same or other rules, on tables of its own. These are in a scratch
-- schema at the front of the search path, so the functions above use them unchanged. Recorded tables are referred to as
-- `venuewatch.…` here.

-- Every table that the engine writes, empty; a test compares this list with what the functions above write. And the
-- samples, copied an hour at a time: reading them from the hypertable takes up to twice as long per instant, and three
-- times if compressed, most of it planning.
--
-- Executed as dynamic SQL: the embedded database crashes when plpgsql creates a table by a cached statement.
create function engine.make_replay_tables() returns void
language plpgsql
as $$
begin
  execute $tables$
    create unlogged table engine_clock (like venuewatch.engine_clock including all);
    create unlogged table region_state (like venuewatch.region_state including all) with (fillfactor = 50);
    create unlogged table component_state (like venuewatch.component_state including all) with (fillfactor = 50);
    create unlogged table venue_state (like venuewatch.venue_state including all) with (fillfactor = 50);
    create unlogged table region_venue_state (like venuewatch.region_venue_state including all) with (fillfactor = 50);
    create unlogged table impairment (like venuewatch.impairment including all);
    create unlogged table outlier (like venuewatch.outlier including all);
    create unlogged table unjudged (like venuewatch.unjudged including all);
    create unlogged table component_entry (like venuewatch.component_entry including all);
    create unlogged table typical_latency (like venuewatch.typical_latency including all);
    create unlogged table incident (like venuewatch.incident including all);
    create unlogged table alert_event (like venuewatch.alert_event including all);
    create unlogged table state_change (like venuewatch.state_change including all);
    create unlogged table change_event (like venuewatch.change_event including all);
    create unlogged table rules_in_force (like venuewatch.rules_in_force including all);

    create unlogged table sample (like venuewatch.sample);
    create index on sample (component_id, region_id, ts);
    create index on sample (ts);
  $tables$;
end;
$$;

-- For a replay of one venue: the others are not watched.
create function engine.watch_in_replay(only_venue text) returns void
language plpgsql
as $$
begin
  execute 'create unlogged table venue (like venuewatch.venue including all)';
  insert into venue overriding system value select * from venuewatch.venue;
  update venue v set published = v.published and v.venue = only_venue;
end;
$$;

-- Recorded incidents as they stood at an instant, without later changes. Their severity is exact only if it could still
-- be derived; no decision depends on it.
create function engine.incidents_as_of(at timestamptz) returns setof venuewatch.incident
language sql stable
as $$
  select stood.*
  from venuewatch.incident i
  cross join lateral jsonb_populate_record(
    i,
    jsonb_build_object(
      'last_bad_at', least(i.last_bad_at, at),
      'evidence', i.evidence - array_remove(array[
        case when i.closed_at > at then 'closing' end,
        case when i.closed_at > at then 'closedBecause' end,
        case when i.escalated_at > at then 'escalation' end
      ], null)
    )
    || case when i.closed_at > at then '{"closed_at": null}' else '{}' end::jsonb
    || case
      when i.escalated_at > at then '{"escalated_at": null, "severity": "degraded", "peak_severity": "degraded"}'
      else '{}'
    end::jsonb
    || case
      when i.retracted_at > at
      then '{"retracted_at": null, "retraction_reason": null, "retraction_evidence": null, "dismissed_until": null}'
      when i.dismissed_until > at then '{"dismissed_until": null}'
      else '{}'
    end::jsonb
  ) stood
  where i.opened_at <= at
$$;

-- Loads what the engine knew just before the first instant, except states, which are rebuilt from `warm_from` on.
-- `reaches_to` is the earliest instant that will be judged. `only_venue` null: all. `recompute_typical`: compute the
-- typical latencies with these rules instead of taking the recorded ones.
create function engine.recall_for_replay(
  eve timestamptz,
  warm_from timestamptz,
  reaches_to timestamptz,
  only_venue text,
  recompute_typical boolean,
  r engine.rules
) returns void
language plpgsql
as $$
begin
  insert into engine_clock (ticked_at, version, typical_for)
  values (
    warm_from - interval '1 millisecond', 'replay', case when not recompute_typical then 'infinity'::timestamptz end
  );

  if not recompute_typical then
    insert into typical_latency
    select * from venuewatch.typical_latency t where t.holds_from >= engine.typical_in_force(reaches_to);
  end if;

  -- A single venue cannot show that a region is impaired, so all recorded impairments are taken, including later ones:
  -- all of them have an end, so the engine changes none.
  insert into impairment overriding system value
  select stood.*
  from venuewatch.impairment i
  cross join lateral jsonb_populate_record(i, case
    when only_venue is not null then jsonb_build_object('ended_at', coalesce(i.ended_at, 'infinity'))
    when i.ended_at > eve then '{"ended_at": null, "seen_elsewhere": false}'
    else '{}'
  end::jsonb) stood
  where (only_venue is not null or i.recognised_at <= eve)
    and (i.ended_at is null or i.ended_at > reaches_to - engine.longest_span(r));

  insert into outlier
  select o.component_id, o.region_id, o.started_at, case when o.ended_at <= eve then o.ended_at end
  from venuewatch.outlier o
  where o.started_at <= eve and (o.ended_at is null or o.ended_at > reaches_to - engine.longest_span(r));

  -- those of that instant: warming up ends them, and finds later ones
  insert into unjudged (component_id, started_at, reason)
  select u.component_id, u.started_at, u.reason
  from venuewatch.unjudged u
  where u.started_at < warm_from and (u.ended_at is null or u.ended_at >= warm_from);

  insert into component_entry
  select e.component_id, e.holds_from, e.fingerprint, case when e.good_at <= eve then e.good_at end
  from venuewatch.component_entry e;

  -- incidents that are open; that may be retracted or count for flapping; that closed recently, whose samples are no
  -- partial failure; whose names are taken on a day to which a run may be traced back; and those that an operator keeps
  -- from reopening
  insert into incident overriding system value
  select i.*
  from engine.incidents_as_of(eve) i
  join component c using (component_id)
  join venuewatch.venue v using (venue_id)
  where (only_venue is null or v.venue = only_venue)
    and (
      i.closed_at is null and i.retracted_at is null
      or i.opened_at > eve - engine.ms(greatest(r.flap_within_ms, r.retraction_ms))
      or i.closed_at > eve - engine.longest_span(r)
      or i.started_at >= date_trunc('day', eve, 'UTC') - interval '8 days'
      or i.closed_at is null
        and i.retracted_at is not null
        and i.retraction_evidence is null
        and i.dismissed_until is null
    );

  perform setval(
    pg_get_serial_sequence('impairment', 'impairment_id'),
    (select coalesce(max(impairment_id), 0) + 1 from impairment),
    false
  );
  perform setval(
    pg_get_serial_sequence('incident', 'incident_id'), (select coalesce(max(incident_id), 0) + 1 from incident), false
  );
end;
$$;

-- Rebuilds the states of an instant before the first: incidents close, and impairments are recognised, by past states.
-- Nothing is decided, and impairments are the recorded ones.
create function engine.warm_up(at timestamptz, r engine.rules) returns void
language plpgsql
as $$
begin
  update engine_clock set ticked_at = at;
  perform engine.store_typical_latencies(at, r);
  perform engine.store_region_states(at, r);
  perform engine.store_good_entries(at, r);
  perform engine.store_component_states(at, r);
  perform engine.store_venue_states(at);
  perform engine.store_region_views(at);
end;
$$;

-- Retractions by operators have only a reason; the engine's own have evidence.
create function engine.retractions_by_hand(after timestamptz, up_to timestamptz) returns setof venuewatch.incident
language sql stable
as $$
  select i.*
  from venuewatch.incident i
  where i.retracted_at > after and i.retracted_at <= up_to and i.retraction_evidence is null
$$;

-- Repeats the retractions of operators at the same times. They do not follow from the rules, but have consequences: no
-- other incident opens until the component is well, and a retracted one does not count for flapping.
create function engine.retract_as_operators_did(after timestamptz, up_to timestamptz) returns void
language sql
as $$
  update incident i
  set retracted_at = o.retracted_at, retraction_reason = o.retraction_reason
  from engine.retractions_by_hand(after, up_to) o
  where i.component_id = o.component_id
    and i.retracted_at is null
    and i.opened_at <= coalesce(o.closed_at, o.retracted_at)
    and (i.closed_at is null or i.closed_at >= o.opened_at)
$$;
