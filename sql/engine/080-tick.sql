-- One tick of the engine: everything it decides at one instant, in one transaction, by what was known then.
--
-- The clock is a parameter, so that tests, a core that was away, and a replay can walk hours in milliseconds.
-- `decided_at` is the actual time; null: now. A tick at or before the last one is refused and changes nothing: an
-- instant is decided once. `holder` and `fence` are the lease of the core; a core that has lost its lease, however long
-- it slept, decides nothing. Null: no lease needed (a replay, or a generated history). `from_scratch`: instants before
-- this one were skipped, so the known states are out of date and are discarded.
--
-- All tables are found by the search path, so that a replay runs the same functions on tables of its own.
--
-- Returns {at, opened: [slug], escalated: [slug], closed: [slug], retracted: [slug]}, or {refused: 'not the leader' |
-- 'new timeline' | 'decided before'}.
create function engine.tick(
  at timestamptz,
  decided_at timestamptz,
  r engine.rules,
  engine_version text,
  holder text,
  fence bigint,
  from_scratch boolean default false
) returns jsonb
language plpgsql
as $$
declare
  was_at    timestamptz;
  retracted text[];
  closed    text[];
  escalated text[];
  opened    text[];
begin
  decided_at := coalesce(decided_at, clock_timestamp());

  -- Locked until the end, so that no other core can take over the lease during the tick.
  if holder is not null then
    perform from leader l
    where l.office = 'engine' and l.holder = tick.holder and l.fence = tick.fence
    for share;
    if not found then
      return jsonb_build_object('refused', 'not the leader');
    end if;
    if not engine.adopt_timeline() then
      return jsonb_build_object('refused', 'new timeline');
    end if;
  end if;

  -- The clock's row is also the lock: a second tick waits here until the first commits, and then sees its results.
  insert into engine_clock (ticked_at, version) values ('-infinity', engine_version) on conflict do nothing;
  select c.ticked_at into was_at from engine_clock c for update;
  if was_at >= at then
    return jsonb_build_object('refused', 'decided before');
  end if;
  update engine_clock c
  set ticked_at = at,
      revision = venuewatch.revision_after(was_at, c.revision, r.silent_after_ms, at, decided_at),
      version = engine_version,
      silent_after_ms = r.silent_after_ms,
      silent_since = case
        when at <= decided_at - engine.ms(r.silent_after_ms)
        then coalesce(c.silent_since, nullif(was_at, '-infinity') + engine.ms(r.silent_after_ms))
      end,
      -- a core that still catches up on the time since the history leaves it at that
      is_history = c.is_history and (holder is null or at < decided_at - interval '30 seconds');
  perform engine.store_rules(at, engine_version, r);

  if from_scratch then
    perform engine.forget_everything(was_at + engine.ms(r.silent_after_ms));
  end if;
  perform engine.forget_unwatched(at);
  perform engine.store_typical_latencies(at, r);
  perform engine.store_region_states(at, r);
  perform engine.store_good_entries(at, r);
  perform engine.store_impairments(at, r);
  perform engine.store_outliers(at, r);
  perform engine.store_component_states(at, r);
  perform engine.store_venue_states(at);
  perform engine.store_region_views(at);
  perform engine.store_state_changes(at, decided_at);

  retracted := engine.retract_incidents(at, r);
  closed := engine.close_incidents(at, r);
  escalated := engine.follow_open_incidents(at, r);
  perform engine.end_dismissals(at);
  opened := engine.open_incidents(at, r);
  perform engine.write_alerts(at, decided_at, opened, escalated, closed, r);
  perform engine.write_region_changes(at, decided_at);
  perform engine.write_changes(at, decided_at, opened, escalated, closed, retracted);

  return jsonb_build_object(
    'at', at, 'opened', opened, 'escalated', escalated, 'closed', closed, 'retracted', retracted
  );
end;
$$;

-- After a pause too long to catch up, earlier states are out of date: start without any. They ended when everything
-- began to read unknown.
create function engine.forget_everything(silent_from timestamptz) returns void
language sql
as $$
  update state_change k set ended_at = silent_from where k.ended_at is null;
  delete from region_state;
  delete from component_state;
  delete from venue_state;
  delete from region_venue_state
$$;

-- Unpublished components, venues and regions have no state and no vote. Published again, they start from nothing.
create function engine.forget_unwatched(at timestamptz) returns void
language plpgsql
as $$
declare
  -- as arrays: they are short, whatever the planner estimates for the tables
  unpublished_regions    smallint[] := array(select g.region_id from region g where not g.published);
  unpublished_components integer[] := array(
    select c.component_id from component c join venue v using (venue_id) where not (c.published and v.published)
  );
begin
  delete from region_state s
  where s.component_id = any (unpublished_components) or s.region_id = any (unpublished_regions);

  with gone as (
    delete from component_state s
    where s.component_id = any (unpublished_components)
    returning s.component_id
  )
  update state_change k
  set ended_at = at
  from gone g
  where k.component_id = g.component_id and k.ended_at is null;

  with gone as (
    delete from venue_state s
    using venue v
    where v.venue_id = s.venue_id and not v.published
    returning s.venue_id
  )
  update state_change k
  set ended_at = at
  from gone g
  where k.venue_id = g.venue_id and k.component_id is null and k.ended_at is null;

  delete from region_venue_state s
  using venue v
  where v.venue_id = s.venue_id and (not v.published or s.region_id = any (unpublished_regions));

  update unjudged u
  set ended_at = at
  where u.ended_at is null and u.component_id = any (unpublished_components);
end;
$$;
