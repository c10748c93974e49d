-- Fails while a refresh is running that reads expiring data: it would find nothing in a chunk that is dropped before it
-- gets there.
create function upkeep.expect_no_refresh() returns void
language plpgsql
as $$
begin
  perform pg_advisory_xact_lock(upkeep.retention_lock());
  if exists (select from leader l where l.office like 'refresh of %' and l.expires_at > clock_timestamp()) then
    raise exception 'a refresh is under way that reads data about to be dropped'
      using errcode = 'lock_not_available';
  end if;
end;
$$;

-- Drops expired data. Days, hours, the distribution of latencies by day, incidents and notices are kept. Typical
-- latencies are kept as long as the raw samples that were judged by them. Alerts and their delivery log expire after
-- ninety days: an incident's own columns hold its history. Exceptions: alerts of open incidents and pauses, which may
-- still be needed, and late openings, which are few: a late opening excludes its incident from having a lead over the
-- venue's notice.
--
-- Chunks are dropped in separate transactions, one per table. A drop holds their locks until its commit, and a tick
-- holds the clock's row while it plans, for which it needs locks of all chunks: if the drop then waited for the clock,
-- or for another table's chunks, they would deadlock. (If it took the clock first, ticks would wait as long as the drop
-- waits for readers.) So until the clock advances, soon after, two pages of an old incident with the same instant may
-- differ, with and without its samples. A crash of core in between does not prolong that: every tick has a new instant,
-- and without ticks so has every ten seconds.
create procedure upkeep.retain(at timestamptz, inout dropped integer default 0)
language plpgsql
as $$
declare
  level   name;
  kept    interval;
  of_it   integer;
begin
  foreach level in array array[
    'sample', 'rest_hour', 'stream_hour', 'latency_hour', 'component_hour', 'venue_hour', 'sample_minute',
    'component_minute', 'venue_minute', 'transfer_span'
  ] loop
    kept := case
      when level = 'transfer_span' then upkeep.transfers_kept()
      when level like '%_minute' then upkeep.minutes_kept()
      else upkeep.raw_kept()
    end;
    perform upkeep.expect_no_refresh();
    select count(*) into of_it
    from drop_chunks(format('venuewatch.%I', level)::regclass, older_than => retain.at - kept);
    dropped := dropped + of_it;
    commit;
  end loop;

  delete from probe p where p.seen_at < retain.at - upkeep.probes_kept()
    and exists (select from probe later where later.region_id = p.region_id and later.seen_at > p.seen_at);
  delete from excluded_minute where minute < retain.at - upkeep.minutes_kept() - interval '1 day';
  delete from typical_latency where holds_from < retain.at - upkeep.raw_kept() - interval '1 day';
  -- a feed that fails at every other reading has a thousand runs a day; no query looks back more than a year
  delete from feed_poll where until_at < retain.at - interval '400 days';
  -- a component that flaps day and night has a hundred thousand a year
  delete from state_change where ended_at < retain.at - upkeep.states_kept();
  -- kept for open incidents and pauses: receivers of the beginning must also receive the end
  delete from delivery d
  where d.state <> 'due'
    and d.ended_at < retain.at - upkeep.alerts_kept()
    and not exists (
      select
      from alert_event b
      join incident i using (incident_id)
      where b.event_id = d.event_id
        and i.retracted_at is null
        and (
          i.closed_at is null
          or exists (
            select
            from alert_event e
            where e.incident_id = i.incident_id and e.dispatched_at is null and e.dropped_at is null
          )
        )
    )
    and not exists (select from transfer_state t where t.paused_event_id = d.event_id)
    and not exists (
      select
      from alert_event e
      where e.paused_event_id = d.event_id and e.dispatched_at is null and e.dropped_at is null
    );
  delete from alert_event e
  where e.at < retain.at - upkeep.alerts_kept()
    and (e.dispatched_at is not null or e.dropped_at is not null)
    and not (e.kind = 'opened' and e.late)
    and not exists (select from delivery d where d.event_id = e.event_id)
    and not exists (select from transfer_state t where t.paused_event_id = e.event_id)
    and not exists (
      select
      from incident i
      where i.incident_id = e.incident_id and i.closed_at is null and i.retracted_at is null
    );
  -- The newest one stays: a client that has it, and hears nothing for days, has missed nothing.
  delete from change_event e
  where e.recorded_at < retain.at - interval '25 hours'
    and e.change_id < (select max(n.change_id) from change_event n);
  -- pages of old incidents showed what was dropped
  call upkeep.published_past_changed();
  commit;
end;
$$;
