-- All upkeep of the history, with every window and period in this one file: roll-ups are refreshed, then compressed,
-- then expired data is dropped. Core calls these procedures on both kinds of database, one at a time, in this order.
-- There are no background policies: the embedded database has no workers to run them, and the order prevents a refresh
-- from erasing what raw samples no longer back.
--
-- THE DANGER: a refresh recomputes its whole window from the level below. If raw samples were dropped, it finds none
-- and silently erases the roll-up. So three numbers belong together: samples older than 7 days are refused on arrival
-- (queries/record_samples.sql); a routine refresh reaches back half a day further, so that it finds samples that were
-- just accepted even if core was away for hours; and raw samples are kept for 8 days, half a day more than any refresh
-- looks for.

create function upkeep.refused_after() returns interval language sql immutable return interval '7 days';
create function upkeep.late_window() returns interval language sql immutable return interval '7 days 12 hours';
create function upkeep.raw_kept() returns interval language sql immutable return interval '8 days';
create function upkeep.minutes_kept() returns interval language sql immutable return interval '100 days';
-- A probe without a heartbeat for this long is gone for good, and its row is of no more use.
create function upkeep.probes_kept() returns interval language sql immutable return interval '1 day';
create function upkeep.alerts_kept() returns interval language sql immutable return interval '90 days';

-- Maximum duration of a refresh. A refresh that reaches back to data that may expire within this time registers in
-- table `leader`, and nothing is dropped meanwhile; if it crashes, its registration expires after this time.
create function upkeep.longest_refresh() returns interval language sql immutable return interval '1 hour';
-- Held while registering, and while dropping: whichever comes second sees the first.
create function upkeep.retention_lock() returns bigint language sql immutable return 7338142;

-- Chunks are compressed when nearly all late samples have arrived: a late insert into a compressed chunk works, but
-- costs ten times as much. On a server a chunk is a day, and compressing it blocks late inserts for two seconds.
create function upkeep.compressed_after() returns interval language sql immutable return interval '2 hours';
-- On the embedded database a chunk of samples is an hour: each uncompressed one takes 17 MB more disk.
create function upkeep.samples_compressed_after() returns interval language sql immutable
return case when is_embedded() then interval '1 hour' else upkeep.compressed_after() end;

-- TimescaleDB's views are referenced only from function bodies that are strings, here and everywhere: SQL bodies parsed
-- at creation (begin atomic) and our views would depend on them, and `alter extension timescaledb update`, which drops
-- and recreates them, would be refused.

-- The start of the oldest source chunk of a roll-up; null if there is none.
create function upkeep.oldest_source_at(rollup name) returns timestamptz
language sql stable
as $$
  select min(ch.range_start)
  from timescaledb_information.continuous_aggregates ca
  join timescaledb_information.chunks ch
    on ch.hypertable_schema = ca.hypertable_schema and ch.hypertable_name = ca.hypertable_name
  where ca.view_schema = 'venuewatch' and ca.view_name = rollup;
$$;

-- Whether less than half of the samples that were rolled up for a period still exist. It counts a random but repeatable
-- choice of two dozen series: after a move or a restore it is called for every chunk of samples every ten minutes, and
-- counting all of thirty million rows takes the embedded database fourteen seconds. Only private tables know how many
-- rows a compressed chunk has.
create function upkeep.most_samples_lost(from_at timestamptz, to_at timestamptz) returns boolean
language sql stable
as $$
  with series as materialized (
    select h.component_id, h.region_id, sum(h.samples) as rolled_up
    from sample_hour h
    where h.hour >= from_at and h.hour < to_at
    group by h.component_id, h.region_id
    order by md5(h.component_id || ' ' || h.region_id)
    limit 24
  )
  select 2 * sum(here.samples) < sum(rolled_up)
  from series
  cross join lateral (
    select count(*) as samples
    from sample s
    where s.component_id = series.component_id and s.region_id = series.region_id and s.ts >= from_at and s.ts < to_at
  ) here;
$$;

-- Whether rows were inserted into a chunk after its compression: they lie in the chunk itself, beside its batches.
create function upkeep.has_rows_beside(chunk regclass) returns boolean
language plpgsql stable
as $$
declare
  found_one boolean;
begin
  execute format('select exists (select from only %s)', chunk) into found_one;
  return found_one;
end;
$$;

-- The length of time that a row of a roll-up covers.
create function upkeep.bucket_width(rollup name) returns interval
language sql immutable
return case
  when rollup like '%_minute' then interval '1 minute'
  when rollup in ('sample_hour', 'rest_hour', 'stream_hour', 'latency_hour', 'component_hour', 'venue_hour')
    then interval '1 hour'
  when rollup = 'usual_hour' then interval '5 days'
  else interval '1 day'
end;

-- The parts of a window whose source exists: only these may be refreshed. Where a chunk was dropped, at the beginning
-- of the history or in the middle, a refresh would find nothing and erase the roll-up.
--
-- A bucket wider than a chunk needs all of its chunks. A missing chunk in which hours were measured was dropped;
-- otherwise it never existed.
--
-- A chunk of samples that was created after its time is examined: late samples may have recreated it after it was
-- dropped. If it holds less than half of what was rolled up, it backs nothing. (A roll-up that is wrong by that much is
-- then not repaired.)
create function upkeep.backed(rollup name, from_at timestamptz, to_at timestamptz) returns tstzmultirange
language plpgsql stable
as $$
declare
  width    interval := upkeep.bucket_width(backed.rollup);
  narrower boolean;
  chunks   tstzmultirange;
  lost     tstzmultirange;
begin
  select
    range_agg(tstzrange(ch.range_start, ch.range_end)),
    range_agg(tstzrange(ch.range_start, ch.range_end)) filter (
      where ch.hypertable_name = 'sample'
        and ch.chunk_creation_time > ch.range_end
        and upkeep.most_samples_lost(ch.range_start, ch.range_end)
    ),
    bool_or(ch.range_end - ch.range_start < width)
  into chunks, lost, narrower
  from timescaledb_information.continuous_aggregates ca
  join timescaledb_information.chunks ch
    on ch.hypertable_schema = ca.hypertable_schema and ch.hypertable_name = ca.hypertable_name
  where ca.view_schema = 'venuewatch' and ca.view_name = rollup
    and ch.range_end > from_at and ch.range_start < to_at;

  chunks := chunks - coalesce(lost, '{}');
  if narrower then
    select range_agg(bucket) into chunks
    from generate_series(time_bucket(width, lower(chunks)), upper(chunks) - interval '1 microsecond', width) as here
    cross join lateral (values (tstzrange(here, here + width))) as of_it (bucket)
    where chunks && bucket
      and not exists (
        select
        from unnest(tstzmultirange(bucket) - chunks) as missing
        join sample_hour on hour >= lower(missing) and hour < upper(missing)
      );
  end if;
  return coalesce(chunks, '{}') * tstzmultirange(tstzrange(from_at, to_at));
end;
$$;

-- Records that this transaction changes published history from an instant on (null: from the beginning), so that
-- everything shown after its commit has a different instant. Call it right before the commit, because the next tick
-- waits for it. It also waits for a tick in progress, so that no minute is published in its former state meanwhile.
create procedure upkeep.published_past_changed(from_at timestamptz default null)
language plpgsql
as $$
declare
  published_to timestamptz;
begin
  perform from engine_clock for update;
  select k.published_to into published_to from api.clock k;
  if from_at is null or from_at < published_to then
    update engine_clock set revision = revision_after(ticked_at, revision, silent_after_ms, ticked_at);
  end if;
end;
$$;

-- Records what a refresh writes in the refresh's own transaction, which our code cannot commit: by a trigger on each
-- roll-up's materialization hypertable, fired after the rows are written, so that the clock is locked only until the
-- commit. Roll-ups of later schema files get their trigger here.
do $$
declare
  kept_in text;
begin
  for kept_in in
    select format('%I.%I', ca.materialization_hypertable_schema, ca.materialization_hypertable_name)
    from timescaledb_information.continuous_aggregates ca
    where ca.view_schema = 'venuewatch'
      and not exists (
        select
        from pg_trigger t
        where t.tgname = 'note_refresh'
          and t.tgrelid = format(
            '%I.%I', ca.materialization_hypertable_schema, ca.materialization_hypertable_name
          )::regclass
      )
  loop
    execute format(
      'create trigger note_refresh after insert on %s for each statement execute function venuewatch.note_refresh()',
      kept_in
    );
  end loop;
end;
$$;

-- The first instant that may show what this transaction computed: later than any that was already shown, and not before
-- now. Locked until the commit, as above.
create function upkeep.next_instant() returns timestamptz
language plpgsql
as $$
declare
  shown_at timestamptz;
begin
  select c.ticked_at + c.revision * interval '1 millisecond' into shown_at from engine_clock c for update;
  return greatest(clock_timestamp(), shown_at + interval '1 microsecond');
end;
$$;

-- Refreshes one roll-up over the buckets that lie wholly within the window, but never where the source is gone.
-- `from_at` null: from the beginning, for roll-ups whose source is never dropped. `force`: also where no change is
-- known; rewrites the rows of the window. `unasked`: without checking that the source exists, because the catalogue is
-- slow with hundreds of chunks; for frequent refreshes that reach back a day at most, where only an operator could have
-- dropped anything.
--
-- `remaking`: also roll-ups that a schema file has replaced and upkeep has not yet rebuilt. Other calls leave these
-- alone: all at once would take minutes.
--
-- A window that reaches back to data that may expire meanwhile blocks dropping: what was found to exist must exist to
-- the end.
create procedure upkeep.refresh(
  rollup name,
  from_at timestamptz,
  to_at timestamptz,
  force boolean default false,
  unasked boolean default false,
  remaking boolean default false
)
language plpgsql
as $$
declare
  source_kept interval := case
    when rollup in ('sample_minute', 'sample_hour', 'rest_hour', 'stream_hour', 'latency_hour') then upkeep.raw_kept()
    else upkeep.minutes_kept()
  end;
  holds  boolean := from_at < clock_timestamp() - source_kept + upkeep.longest_refresh();
  fence_here bigint;
  span   tstzrange;
begin
  if from_at is not null and not unasked and not remaking and refresh.rollup = any (upkeep.remade()) then
    -- whole buckets: a window without one is refused
    from_at := greatest(
      from_at,
      (
        select time_bucket(
          upkeep.bucket_width(refresh.rollup),
          m.made_from + upkeep.bucket_width(refresh.rollup) - interval '1 microsecond'
        )
        from rollups_made m
      )
    );
    if from_at >= to_at then
      return;
    end if;
  end if;
  if holds then
    perform pg_advisory_xact_lock(upkeep.retention_lock());
    insert into leader as l (office, holder, fence, expires_at)
    values ('refresh of ' || rollup, 'upkeep', 1, clock_timestamp() + upkeep.longest_refresh())
    on conflict (office) do update set fence = l.fence + 1, expires_at = excluded.expires_at
    returning fence into fence_here;
    commit;
  end if;
  foreach span in array
    case
      when from_at is null or unasked then array[tstzrange(from_at, to_at)]
      else array(select unnest(upkeep.backed(rollup, from_at, to_at)))
    end
  loop
    -- for the trigger that records the change; as text, where '' means from the beginning
    perform set_config('venuewatch.refreshed_from', coalesce(lower(span)::text, ''), false);
    -- in one go: newer releases commit every ten buckets by default, which makes a wide window twenty times slower
    call refresh_continuous_aggregate(
      format('venuewatch.%I', rollup)::regclass,
      lower(span),
      upper(span),
      force => force,
      options => '{"buckets_per_batch": 0}'
    );
    -- TimescaleDB 2.23 records these changes for the level above only at the commit: without it that level stays
    -- unchanged until the next refresh. A refresh ends its own transaction, so this update cannot be part of it: from
    -- here on, published history has a new instant.
    if not unasked then
      update engine_clock set revision = revision_after(ticked_at, revision, silent_after_ms, ticked_at);
    end if;
    commit;
  end loop;
  if rollup = 'venue_latency_day' then
    call upkeep.keep_typical();
    commit;
  elsif rollup = 'sample_hour' then
    call upkeep.keep_open_hours();
    commit;
  end if;
  if holds then
    update leader set expires_at = '-infinity' where office = 'refresh of ' || rollup and fence = fence_here;
    commit;
  end if;
end;
$$;

-- How long older versions of recomputed figures are kept: longer than an engine may hang before it counts as silent.
create function upkeep.versions_kept() returns interval language sql immutable return interval '15 minutes';

-- Stores the typical latencies of the last seven days after their source was refreshed; the next instant shows them.
create procedure upkeep.keep_typical()
language plpgsql
as $$
declare
  shown_from timestamptz;
begin
  -- one at a time: a concurrent call would duplicate the work
  lock table typical_week in share row exclusive mode;
  insert into typical_week (holds_from, venue_id, category, p50_ms, minutes)
  select 'infinity', t.venue_id, t.category, t.p50_ms, t.minutes
  from api.typical_of_week((clock_timestamp() at time zone 'UTC')::date) t;
  delete from typical_week t
  where t.holds_from < (
    select max(w.holds_from) from typical_week w where w.holds_from < clock_timestamp() - upkeep.versions_kept()
  );
  shown_from := upkeep.next_instant();
  -- versions that no instant has shown yet: no tick came between two computations, and the clock stood still or went
  -- back
  delete from typical_week where holds_from >= shown_from and holds_from < 'infinity';
  update typical_week set holds_from = shown_from where holds_from = 'infinity';
end;
$$;

-- Stores the current hours, and those that ended a few minutes ago, as the board shows them until they are published;
-- the next instant shows them.
create procedure upkeep.keep_open_hours()
language plpgsql
as $$
declare
  shown_from timestamptz;
begin
  lock table open_hour in share row exclusive mode;
  insert into open_hour (hour, venue_id, holds_from, answers, p50_us)
  select m.hour, c.venue_id, 'infinity', sum(m.good), percentile_cont(0.5) within group (order by m.p50_us)
  from sample_hour m
  join component c using (component_id)
  join venue v using (venue_id)
  where c.kind = 'rest' and c.published and v.published
    and m.p50_us is not null
    and m.hour >= (select time_bucket('1 hour', k.published_to) from api.clock k)
    -- for the planner, which excludes chunks only by now()
    and m.hour > now() - interval '2 days'
  group by m.hour, c.venue_id;
  delete from open_hour o
  where o.hour < clock_timestamp() - interval '1 day'
    or exists (
      select
      from open_hour w
      where w.hour = o.hour and w.venue_id = o.venue_id
        and w.holds_from > o.holds_from and w.holds_from < clock_timestamp() - upkeep.versions_kept()
    );
  shown_from := upkeep.next_instant();
  -- as for typical_week
  delete from open_hour where holds_from >= shown_from and holds_from < 'infinity';
  update open_hour set holds_from = shown_from where holds_from = 'infinity';
end;
$$;

-- After a tick, in its transaction: stores the probes' current rows, for answers at this tick's instant, or a later one
-- if a heartbeat came after it. Both are needed: a tick is decided half a second after its instant, and the last
-- heartbeat of a probe that reports as often as the engine ticks might never lie before one.
create procedure upkeep.show_probes(at timestamptz)
language sql
begin atomic
  insert into shown_probe as s (region_id, process, seen_at, probe, venues)
  select
    p.region_id,
    p.process,
    date_trunc('milliseconds', p.seen_at),
    to_jsonb(p),
    (
      select count(*)
      from watch w
      join venue v using (venue_id)
      where w.region_id = p.region_id and w.process = p.process and v.published
    )
  from probe p
  on conflict (region_id, process, seen_at) do update set probe = excluded.probe, venues = excluded.venues
  where (s.probe, s.venues) is distinct from (excluded.probe, excluded.venues);

  delete from shown_probe s
  where not exists (select from probe p where p.region_id = s.region_id and p.process = s.process)
    or exists (
      select
      from shown_probe w
      where w.region_id = s.region_id
        and w.process = s.process
        and w.seen_at > s.seen_at
        and w.seen_at <= show_probes.at
    );
end;

-- After a tick, in its transaction. Returns `decided` unchanged.
create function upkeep.follow_tick(at timestamptz, decided jsonb) returns jsonb
language plpgsql
as $$
begin
  if not decided ? 'refused' then
    call upkeep.show_probes(at);
    -- reports that this tick cannot have seen take effect after it
    update region_vantage v
    set holds_from = greatest(v.reported_at, follow_tick.at + interval '1 microsecond')
    where v.holds_from = 'infinity';
  end if;
  return decided;
end;
$$;

-- Every twenty seconds: the current minute and the few before it, whose last samples arrive up to a deadline late. None
-- of them is published yet (api.clock), unless this takes more than a minute.
create procedure upkeep.refresh_newest(at timestamptz)
language plpgsql
as $$
declare
  to_at   timestamptz := time_bucket('1 minute', at) + interval '1 minute';
  from_at timestamptz := to_at - interval '4 minutes';
begin
  call upkeep.refresh('sample_minute', from_at, to_at, unasked => true);
  call upkeep.refresh('component_minute', from_at, to_at, unasked => true);
  call upkeep.refresh('venue_minute', from_at, to_at, unasked => true);
end;
$$;

-- Whether the current hour is recomputed in this minute: in its first minutes, then every five. It is recomputed
-- completely, which takes the embedded database 0.7 s at its end with the registry's venues, and until it is over it is
-- one point of the sparkline.
create function upkeep.current_hour_is_due(at timestamptz) returns boolean
language sql immutable
return extract(minute from at) < 5 or extract(minute from at)::int % 5 = 0;

-- Every minute: the hour before the current one, whose last minutes still change, and the current one if it is due,
-- recomputed completely; and, once they are over, the hours and days that are added up from minutes.
create procedure upkeep.refresh_open_buckets(at timestamptz, with_current_hour boolean default true)
language plpgsql
as $$
declare
  current_hour timestamptz := time_bucket('1 hour', at);
begin
  call upkeep.refresh(
    'sample_hour',
    current_hour - interval '1 hour',
    current_hour + case when with_current_hour then interval '1 hour' else interval '0' end,
    unasked => true
  );
  call upkeep.add_up(at);
end;
$$;

-- Before typical latencies are computed from them: all hours that may count, including late samples.
create procedure upkeep.refresh_hours(at timestamptz)
language plpgsql
as $$
begin
  call upkeep.refresh(
    'sample_hour', time_bucket('1 hour', at - upkeep.late_window()), time_bucket('1 hour', at) + interval '1 hour'
  );
end;
$$;

-- Every ten minutes: late samples, at every level. A window without changes costs a few milliseconds.
create procedure upkeep.refresh_late(at timestamptz)
language plpgsql
as $$
begin
  call upkeep.refresh_all(at - upkeep.late_window(), at);
end;
$$;

-- Every level, from the lowest up, over a window of any width.
create procedure upkeep.refresh_all(from_at timestamptz, to_at timestamptz)
language plpgsql
as $$
declare
  minute_end timestamptz := time_bucket('1 minute', to_at) + interval '1 minute';
begin
  call upkeep.refresh('sample_minute', time_bucket('1 minute', from_at), minute_end);
  call upkeep.refresh('sample_hour', time_bucket('1 hour', from_at), time_bucket('1 hour', to_at) + interval '1 hour');
  call upkeep.refresh('component_minute', time_bucket('1 minute', from_at), minute_end);
  call upkeep.refresh('venue_minute', time_bucket('1 minute', from_at), minute_end);
  call upkeep.refresh_days(from_at, to_at);
  -- at the time when the last hour of the window is kept
  call upkeep.refresh_over_hours(from_at, to_at + upkeep.kept_after());
end;
$$;

-- Delay after which an ended hour is kept: its last samples arrive up to a deadline late, and until then it is read
-- raw.
create function upkeep.kept_after() returns interval language sql immutable return interval '2 minutes';

-- The oldest hour of the last week that is over and not yet kept: one at a time, so that other work can run in between.
-- After the migration that adds them, these are all hours.
create function upkeep.hour_to_keep(at timestamptz) returns table (from_at timestamptz, kept_at timestamptz)
language sql stable
begin atomic
  select n.hour, n.hour + interval '1 hour' + upkeep.kept_after()
  from (select time_bucket('1 hour', upkeep.oldest_source_at('latency_hour')) as hour) oldest
  cross join lateral (
    select greatest(
      oldest.hour,
      time_bucket('1 hour', hour_to_keep.at - upkeep.late_window()),
      (select k.kept_to from hours_kept k)
    ) as hour
  ) n
  where oldest.hour is not null
    and n.hour + interval '1 hour' + upkeep.kept_after() <= hour_to_keep.at;
end;

-- The roll-ups of a venue's week: only hours that are kept at an instant, because for the current hour every refresh
-- would rewrite all its rows. Leaves no gap before them, whichever hours are requested.
create procedure upkeep.refresh_over_hours(from_at timestamptz, at timestamptz)
language plpgsql
as $$
declare
  oldest timestamptz := time_bucket('1 hour', upkeep.oldest_source_at('latency_hour'));
  first  timestamptz := least(time_bucket('1 hour', from_at), coalesce((select k.kept_to from hours_kept k), oldest));
  last   timestamptz := time_bucket('1 hour', least(at, now()) - upkeep.kept_after());
begin
  first := greatest(first, oldest);
  if oldest is not null and first < last then
    -- counts of endpoints are read from it
    call upkeep.refresh('sample_hour', first, last);
    call upkeep.refresh('rest_hour', first, last);
    call upkeep.refresh('stream_hour', first, last);
    call upkeep.refresh('latency_hour', first, last);
    insert into hours_kept as k (kept_to) values (last)
    on conflict (only_row) do update set kept_to = greatest(k.kept_to, excluded.kept_to);
    call upkeep.published_past_changed(first);
    commit;
  end if;
end;
$$;

-- Delay after which hours and days are added up from minutes: until then their newest minutes are still rolled up every
-- few seconds.
create function upkeep.added_up_after() returns interval language sql immutable return interval '5 minutes';

-- Adds up what has ended since the last call. Published figures come from these hours before `hours_to` and days before
-- `days_to`, and from minutes after them; so these advance only when everything before them exists.
create procedure upkeep.add_up(at timestamptz)
language plpgsql
as $$
declare
  over       timestamptz := least(at, clock_timestamp()) - upkeep.added_up_after();
  hours_over timestamptz := time_bucket('1 hour', over);
  days_over  timestamptz := time_bucket('1 day', over);
  before     rollups_made;
  hours_from timestamptz;
begin
  select m.* into before from rollups_made m;
  if hours_over > before.hours_to then
    -- the hours of a complete day are read only while publication lags behind
    hours_from := greatest(before.hours_to, days_over - interval '1 day');
    call upkeep.refresh('component_hour', hours_from, hours_over);
    call upkeep.refresh('venue_hour', hours_from, hours_over);
    if days_over > before.days_to then
      call upkeep.refresh('component_day', before.days_to, days_over);
      call upkeep.refresh('venue_day', before.days_to, days_over);
    end if;
    update rollups_made m set hours_to = greatest(m.hours_to, hours_over), days_to = greatest(m.days_to, days_over);
    commit;
  end if;
end;
$$;

-- Everything that is added up from minutes and hours.
create procedure upkeep.refresh_days(from_at timestamptz, to_at timestamptz)
language plpgsql
as $$
declare
  day_start  timestamptz := time_bucket('1 day', from_at);
  day_end    timestamptz := time_bucket('1 day', to_at) + interval '1 day';
  made       rollups_made;
begin
  call upkeep.add_up(to_at);
  select m.* into made from rollups_made m;
  call upkeep.refresh('component_hour', time_bucket('1 hour', from_at), least(day_end, made.hours_to));
  call upkeep.refresh('venue_hour', time_bucket('1 hour', from_at), least(day_end, made.hours_to));
  call upkeep.refresh('component_day', day_start, least(day_end, made.days_to));
  call upkeep.refresh('venue_day', day_start, least(day_end, made.days_to));
  call upkeep.refresh('latency_day', day_start, day_end);
  -- from the beginning, because a migration created it on a database with a history; unchanged parts are skipped
  call upkeep.refresh('venue_latency_day', null, day_end);
  -- Refresh closed buckets only: refreshing the open one rewrites all its rows, and its hours are quick to read.
  -- Readers take everything before its newest bucket for complete.
  call upkeep.refresh('usual_hour', null, time_bucket('5 days', least(to_at, now() - upkeep.kept_after())));
end;
$$;

-- Excludes the minutes of impaired regions, also from higher levels, and also in hindsight: an impairment starts before
-- it is recognised. One hour per call, the oldest first, so that other work can run in between; `more`: whether any are
-- left. A continuing impairment reaches to the newest decided instant.
--
-- Only impairments that turned out to be the region's own (api.own_impairment), at most two minutes after they were
-- recognised. A minute is published four minutes after its end: in time for impairments that started less than two
-- minutes before their recognition. Others are corrected in hindsight.
create procedure upkeep.exclude_next(inout more boolean default false)
language plpgsql
as $$
declare
  hour  timestamptz;
  first timestamptz;
  last  timestamptz;
  level name;
  width interval;
begin
  insert into excluded_minute (region_id, minute)
  select distinct i.region_id, minute
  from engine_clock e
  join api.own_impairment i on coalesce(i.ended_at, 'infinity') > e.ticked_at - upkeep.late_window()
  cross join lateral (
    select
      time_bucket('1 minute', greatest(i.started_at, e.ticked_at - upkeep.late_window())) as first,
      coalesce(i.ended_at, e.ticked_at) as last
  ) of_it
  cross join lateral (
    select
      max(x.minute) as newest,
      max(x.minute) - min(x.minute) = (count(*) - 1) * interval '1 minute' and min(x.minute) = of_it.first as whole
    from excluded_minute x
    where x.region_id = i.region_id and x.minute >= of_it.first and x.minute <= of_it.last
  ) there
  -- after the existing ones, ten thousand for a week; if some are missing in between, all of them
  cross join generate_series(
    case when there.whole then there.newest + interval '1 minute' else of_it.first end, of_it.last, interval '1 minute'
  ) as minute
  on conflict do nothing;

  select time_bucket('1 hour', min(x.minute)) into hour from excluded_minute x where not x.applied;
  select min(x.minute), max(x.minute) + interval '1 minute' into first, last
  from excluded_minute x
  where not x.applied and x.minute >= hour and x.minute < hour + interval '1 hour';
  commit;
  if hour is not null then
    foreach level in array array[
      'component_minute', 'venue_minute', 'component_hour', 'venue_hour', 'component_day', 'venue_day'
    ] loop
      width := upkeep.bucket_width(level);
      -- an unfinished hour or day will be added up without them anyway
      if level like '%_minute' or (
        select case
          when level like '%_hour' then time_bucket(width, first) < m.hours_to
          else time_bucket(width, first) < m.days_to
        end
        from rollups_made m
      ) then
        call upkeep.refresh(
          level, time_bucket(width, first), time_bucket(width, last - interval '1 microsecond') + width, force => true
        );
      end if;
    end loop;
    update excluded_minute x set applied = true
    where not x.applied and x.minute >= first and x.minute < last;
    commit;
  end if;
  more := exists (select from excluded_minute x where not x.applied);
end;
$$;

-- Roll-ups that a schema file replaced, and that are rebuilt from the minutes of each region.
create function upkeep.remade() returns text[] language sql immutable
return array[
  'component_minute', 'venue_minute', 'component_hour', 'venue_hour', 'component_day', 'venue_day', 'latency_day',
  'venue_latency_day'
];

-- The start of the rebuilt days. Earlier days are as an earlier release counted them.
create function upkeep.days_made_from() returns timestamptz
language sql stable
begin atomic
  select time_bucket('1 day', m.made_from + interval '1 day' - interval '1 microsecond') from rollups_made m;
end;

-- Rebuilds the newest measured hour that is not yet rebuilt, and with the first hour of a day that day: one per call,
-- so that other work can run in between. `more`: whether any are left. Can be interrupted at any point; the next call
-- continues.
create procedure upkeep.remake_next(inout more boolean default false)
language plpgsql
as $$
declare
  made   rollups_made;
  newest timestamptz;
  day    timestamptz;
  hour   timestamptz;
  level  text;
begin
  select m.* into made from rollups_made m;
  more := not made.complete;
  if not more then
    return;
  end if;
  day := time_bucket('1 day', made.made_from - interval '1 microsecond');
  select m.minute into newest from sample_minute m where m.minute < made.made_from order by m.minute desc limit 1;
  if newest is null and made.made_from = day + interval '24 hours' then
    update rollups_made set complete = true;
    more := false;
    return;
  end if;
  -- skip days and hours without measurements, but not the last piece of a day, which adds it up
  if newest < day and made.made_from = day + interval '24 hours' then
    made.made_from := time_bucket('1 day', newest) + interval '24 hours';
    day := time_bucket('1 day', newest);
  end if;
  hour := least(made.made_from - interval '1 hour', greatest(day, time_bucket('1 hour', newest)));
  call upkeep.refresh('component_minute', hour, made.made_from, remaking => true);
  call upkeep.refresh('venue_minute', hour, made.made_from, remaking => true);
  if hour < made.hours_to and hour >= made.days_to - interval '1 day' then
    call upkeep.refresh('component_hour', hour, least(made.made_from, made.hours_to), remaking => true);
    call upkeep.refresh('venue_hour', hour, least(made.made_from, made.hours_to), remaking => true);
  end if;
  if hour = time_bucket('1 day', hour) then
    foreach level in array array['component_day', 'venue_day', 'latency_day', 'venue_latency_day'] loop
      -- an unfinished day will be added up when it is over
      if level like '%latency_day' or hour < made.days_to then
        call upkeep.refresh(level, hour, hour + interval '1 day', remaking => true);
      end if;
    end loop;
  end if;
  update rollups_made set made_from = hour;
  -- a rebuilt day replaces the figures of an earlier release from here on
  if hour = time_bucket('1 day', hour) then
    call upkeep.published_past_changed(hour);
  end if;
  commit;
end;
$$;

-- The roll-ups to recompute if these differ from the samples: they and everything derived from them, from the lowest
-- level up.
create function upkeep.to_mend(damaged text[]) returns setof text
language sql immutable
as $$
  with recursive stands_on (place, upper, lower) as (
    values
      (1, 'sample_minute', null),
      (2, 'sample_hour', null),
      (3, 'rest_hour', null),
      (4, 'stream_hour', null),
      (5, 'latency_hour', null),
      (6, 'component_minute', 'sample_minute'),
      (7, 'venue_minute', 'component_minute'),
      (8, 'component_hour', 'component_minute'),
      (9, 'venue_hour', 'venue_minute'),
      (10, 'component_day', 'component_minute'),
      (11, 'venue_day', 'venue_minute'),
      (12, 'latency_day', 'sample_minute'),
      (13, 'venue_latency_day', 'latency_day'),
      (14, 'usual_hour', 'sample_hour')
  ),
  all_of (rollup) as (
    select unnest(damaged)
    union
    select s.upper from stands_on s join all_of a on a.rollup = s.lower
  )
  select a.rollup from all_of a join stands_on s on s.upper = a.rollup order by s.place
$$;

-- Recomputes one roll-up in the buckets that overlap a window.
create procedure upkeep.mend(rollup name, from_at timestamptz, to_at timestamptz)
language plpgsql
as $$
declare
  width interval := upkeep.bucket_width(mend.rollup);
  first timestamptz := time_bucket(width, from_at);
  last  timestamptz := time_bucket(width, to_at - interval '1 microsecond') + width;
begin
  -- closed buckets only, as in refresh_all
  if rollup in ('rest_hour', 'stream_hour', 'latency_hour', 'usual_hour') then
    last := least(last, time_bucket(width, now() - upkeep.kept_after()));
  elsif rollup in ('component_hour', 'venue_hour') then
    last := least(last, (select m.hours_to from rollups_made m));
  elsif rollup in ('component_day', 'venue_day') then
    last := least(last, (select m.days_to from rollups_made m));
  end if;
  if first < last then
    call upkeep.refresh(rollup, first, last, force => true);
  end if;
end;
$$;

-- The value at a share of a sorted array, interpolated between neighbours; null if empty.
create function upkeep.share_of_sorted(sorted integer[], share double precision) returns double precision
language sql immutable parallel safe
return (
  select sorted[floor(place)::int + 1]
    + (place - floor(place)) * (sorted[ceil(place)::int + 1] - sorted[floor(place)::int + 1])
  from (values (share * (cardinality(sorted) - 1))) as of (place)
);

-- Compresses the oldest chunk that is due: raw samples first, then roll-ups. One per call, so that others do not wait
-- long. If none is due, a compressed chunk with rows inserted since: until then they lie beside the compressed ones, at
-- ten times the size. Returns its name, or null if nothing is due.
--
-- A day of a series' minutes goes into one batch, if TimescaleDB takes more than a thousand rows: 6.1 bytes a row,
-- instead of 7.5 in two batches, because most columns are nearly constant, and each takes as much in a small batch as
-- in a large one. Not so samples: a reader of the last minutes of a day would unpack more.
create function upkeep.compress_next(at timestamptz) returns text
language plpgsql
as $$
declare
  due    regclass;
  rollup name;
begin
  -- materialized: the planner expects one chunk, and otherwise computes this view for each of the hundreds (0.3 s)
  with rollups as materialized (
    select ca.* from timescaledb_information.continuous_aggregates ca
  )
  select format('%I.%I', ch.chunk_schema, ch.chunk_name)::regclass, ca.view_name into due, rollup
  from timescaledb_information.chunks ch
  left join rollups ca
    on ca.materialization_hypertable_schema = ch.hypertable_schema
    and ca.materialization_hypertable_name = ch.hypertable_name
  where ch.range_end
    <= at - case when ca.view_name is null then upkeep.samples_compressed_after() else upkeep.compressed_after() end
    and coalesce(ca.view_name, ch.hypertable_name) in (
      'sample', 'sample_minute', 'latency_hour', 'stream_hour', 'component_minute', 'venue_minute', 'sample_hour',
      'latency_day'
    )
    and coalesce(ca.view_schema, ch.hypertable_schema) = 'venuewatch'
    and case
      when ch.is_compressed then upkeep.has_rows_beside(format('%I.%I', ch.chunk_schema, ch.chunk_name)::regclass)
      else true
    end
  order by ch.is_compressed, ca.view_name is not null, ch.range_end
  limit 1;
  if due is not null then
    perform set_config(s.name, least(1440, s.max_val::int)::text, true)
    from pg_settings s
    where s.name = 'timescaledb.compression_batch_size_limit' and rollup is not null;
    perform compress_chunk(due, if_not_compressed => true);
  end if;
  return due::text;
end;
$$;

-- Tables that are rewritten constantly and need an explicit vacuum: on the embedded database, which has no autovacuum,
-- the open chunks of roll-ups, whose newest rows are recomputed every few seconds (40 MB an hour with the registry's
-- venues if not vacuumed), and the catalogue.
create function upkeep.rewritten() returns setof text
language sql stable
as $$
  select format('%I.%I', ch.chunk_schema, ch.chunk_name)
  from timescaledb_information.continuous_aggregates ca
  join timescaledb_information.chunks ch
    on ch.hypertable_schema = ca.materialization_hypertable_schema
      and ch.hypertable_name = ca.materialization_hypertable_name
  where is_embedded()
    and ca.view_schema = 'venuewatch'
    and not ch.is_compressed
    and ch.range_end > now() - interval '2 days'
  union all
  select format('%I.%I', n.nspname, c.relname)
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  where is_embedded() and c.relkind = 'r' and c.relpages > 16
    and (
      c.relnamespace = 'pg_catalog'::regnamespace
      -- tables of the extension
      or exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
    )
$$;

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
-- ninety days: an incident's own columns hold its history. Exceptions: alerts of open incidents, which may still be
-- needed, and late openings, which are few: a late opening excludes its incident from having a lead over the venue's
-- notice.
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
    'component_minute', 'venue_minute'
  ] loop
    kept := case when level like '%_minute' then upkeep.minutes_kept() else upkeep.raw_kept() end;
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
  delete from official_reading where until_at < retain.at - interval '400 days';
  -- kept for open incidents: receivers of the opening must also receive the end
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
    );
  delete from alert_event e
  where e.at < retain.at - upkeep.alerts_kept()
    and (e.dispatched_at is not null or e.dropped_at is not null)
    and not (e.kind = 'opened' and e.late)
    and not exists (select from delivery d where d.event_id = e.event_id)
    and exists (
      select
      from incident i
      where i.incident_id = e.incident_id and (i.closed_at is not null or i.retracted_at is not null)
    );
  -- pages of old incidents showed what was dropped
  call upkeep.published_past_changed();
  commit;
end;
$$;
