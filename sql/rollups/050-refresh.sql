-- Refreshing the roll-ups.

-- Refreshes one roll-up over the buckets that lie wholly within the window, but never where the source is gone.
-- `from_at` null: from the beginning, for roll-ups whose source is never dropped. `force`: also where no change is
-- known; rewrites the rows of the window. `unasked`: without checking that the source exists, because the catalogue is
-- slow with hundreds of chunks; for frequent refreshes that reach back a day at most, where only an operator could have
-- dropped anything.
--
-- Days before `added_up.days_from` stay as they were written.
--
-- A window that reaches back to data that may expire meanwhile blocks dropping: what was found to exist must exist to
-- the end.
create procedure upkeep.refresh(
  rollup name,
  from_at timestamptz,
  to_at timestamptz,
  force boolean default false,
  unasked boolean default false
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
  if rollup in ('component_day', 'venue_day') then
    from_at := greatest(from_at, (select a.days_from from added_up a));
  end if;
  -- The ends of an empty range are null, which would refresh everything.
  if from_at >= to_at then
    return;
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
    call upkeep.store_typical();
    commit;
  elsif rollup = 'sample_hour' then
    call upkeep.store_open_hours();
    commit;
  end if;
  if holds then
    update leader set expires_at = '-infinity' where office = 'refresh of ' || rollup and fence = fence_here;
    commit;
  end if;
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

-- Whether the current hour is recomputed now: every minute in its first five minutes, then every five minutes, and at
-- the first call (`last_at` null). It is recomputed completely, which takes the embedded database 0.7 s at its end with
-- the registry's venues, and until it is over it is one point of the sparkline. Calls come about every minute, a little
-- late or early, so half a minute is subtracted.
create function upkeep.current_hour_is_due(at timestamptz, last_at timestamptz) returns boolean
language sql immutable
return last_at is null
  or at < time_bucket('1 hour', at) + interval '5 minutes'
  or at not between last_at and last_at + interval '4 minutes 30 seconds';

-- Every minute: the hour before the current one, whose last minutes still change, and the current one if it is due,
-- recomputed completely; and, once they are over, the hours and days that are added up from minutes.
create procedure upkeep.refresh_open_buckets(at timestamptz, with_current_hour boolean)
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

-- Whether somebody writes samples of the past and rolls them up in small pieces (world/history.ts). Late samples wait
-- then: rolling up all of that past at once would occupy the embedded database for many seconds.
create function upkeep.past_is_written() returns boolean language sql stable
begin atomic
  select exists (
    select from leader l where l.office = 'refresh of the history' and l.expires_at > clock_timestamp()
  );
end;

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
  level integer := 1;
begin
  while level is not null loop
    call upkeep.refresh_level(level, from_at, to_at);
  end loop;
end;
$$;

-- One of the levels, the lowest of which is 1: `level` becomes the next, or null after the highest. Core refreshes each
-- with a call of its own, because the embedded database serves nobody else during a call.
create procedure upkeep.refresh_level(inout level integer, from_at timestamptz, to_at timestamptz)
language plpgsql
as $$
declare
  minute_start timestamptz := time_bucket('1 minute', from_at);
  minute_end   timestamptz := time_bucket('1 minute', to_at) + interval '1 minute';
begin
  case level
    when 1 then call upkeep.refresh('sample_minute', minute_start, minute_end);
    when 2 then
      call upkeep.refresh(
        'sample_hour', time_bucket('1 hour', from_at), time_bucket('1 hour', to_at) + interval '1 hour'
      );
    when 3 then call upkeep.refresh('component_minute', minute_start, minute_end);
    when 4 then call upkeep.refresh('venue_minute', minute_start, minute_end);
    when 5 then call upkeep.refresh_days(from_at, to_at);
    -- at the time when the last hour of the window is kept
    when 6 then call upkeep.refresh_over_hours(from_at, to_at + upkeep.kept_after());
  end case;
  level := nullif(level, 6) + 1;
end;
$$;

-- The oldest hour of the last week that is over and not yet kept: one at a time, so that other work can run in between.
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

-- Counts the minutes of announced maintenance on whole days again: measurements arrive late, and venues change what
-- they announced. Days that were written as days, and those whose minutes are gone, stay as they are.
create procedure upkeep.store_maintenance(from_at timestamptz, to_at timestamptz)
language plpgsql
as $$
declare
  first   timestamptz := greatest(from_at, (select a.days_from from added_up a));
  span    tstzrange;
  changed bigint;
begin
  if first >= to_at then
    return;
  end if;
  foreach span in array array(select unnest(upkeep.backed('venue_day', first, to_at))) loop
    with counted as materialized (
      select c.* from api.maintenance_counts(lower(span), upper(span)) c
    ),
    gone as (
      delete from maintenance_day m
      where span @> m.day
        and not exists (
          select
          from counted c
          where c.day = m.day and c.venue_id = m.venue_id and c.component_id is not distinct from m.component_id
        )
      returning m.day
    ),
    stored as (
      insert into maintenance_day as m (venue_id, component_id, day, minutes, measured_minutes, down_minutes)
      select c.venue_id, c.component_id, c.day, c.minutes, c.measured_minutes, c.down_minutes
      from counted c
      on conflict (day, venue_id, component_id) do update
      set minutes = excluded.minutes, measured_minutes = excluded.measured_minutes,
        down_minutes = excluded.down_minutes
      where (m.minutes, m.measured_minutes, m.down_minutes)
        is distinct from (excluded.minutes, excluded.measured_minutes, excluded.down_minutes)
      returning m.day
    )
    select count(*) into changed from (select day from gone union all select day from stored) d;
    if changed > 0 then
      call upkeep.published_past_changed(lower(span));
    end if;
    commit;
  end loop;
end;
$$;

-- Adds up what has ended since the last call. Published figures come from these hours before `hours_to` and days before
-- `days_to`, and from minutes after them; so these advance only when everything before them exists.
create procedure upkeep.add_up(at timestamptz)
language plpgsql
as $$
declare
  over       timestamptz := least(at, clock_timestamp()) - upkeep.added_up_after();
  hours_over timestamptz := time_bucket('1 hour', over);
  days_over  timestamptz := time_bucket('1 day', over);
  before     added_up;
  hours_from timestamptz;
begin
  select m.* into before from added_up m;
  if hours_over > before.hours_to then
    -- the hours of a complete day are read only while publication lags behind
    hours_from := greatest(before.hours_to, days_over - interval '1 day');
    call upkeep.refresh('component_hour', hours_from, hours_over);
    call upkeep.refresh('venue_hour', hours_from, hours_over);
    if days_over > before.days_to then
      call upkeep.refresh('component_day', before.days_to, days_over);
      call upkeep.refresh('venue_day', before.days_to, days_over);
      call upkeep.store_maintenance(before.days_to, days_over);
    end if;
    update added_up m set hours_to = greatest(m.hours_to, hours_over), days_to = greatest(m.days_to, days_over);
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
  made       added_up;
begin
  call upkeep.add_up(to_at);
  select m.* into made from added_up m;
  call upkeep.refresh('component_hour', time_bucket('1 hour', from_at), least(day_end, made.hours_to));
  call upkeep.refresh('venue_hour', time_bucket('1 hour', from_at), least(day_end, made.hours_to));
  call upkeep.refresh('component_day', day_start, least(day_end, made.days_to));
  call upkeep.refresh('venue_day', day_start, least(day_end, made.days_to));
  call upkeep.store_maintenance(day_start, least(day_end, made.days_to));
  call upkeep.refresh('latency_day', day_start, day_end);
  call upkeep.refresh('venue_latency_day', day_start, day_end);
  -- Refresh closed buckets only: refreshing the open one rewrites all its rows, and its hours are quick to read.
  -- Readers take everything before its newest bucket for complete.
  call upkeep.refresh('usual_hour', null, time_bucket('5 days', least(to_at, now() - upkeep.kept_after())));
end;
$$;
