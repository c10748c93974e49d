-- What the roll-ups are computed from, and where it still exists.

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
-- A bucket that is wider than a chunk, or lies across the beginning of one, needs all of its chunks. A missing chunk in
-- which hours were measured was dropped; otherwise it never existed. A part of a bucket is never returned, because a
-- refresh of it is refused.
--
-- A chunk of samples that was created after its time is examined: late samples may have recreated it after it was
-- dropped. If it holds less than half of what was rolled up, it backs nothing. (A roll-up that is wrong by that much is
-- then not repaired.)
--
-- A window that ends before it begins has no parts: callers round its ends, and limit them by what is already made.
create function upkeep.backed(rollup name, from_at timestamptz, to_at timestamptz) returns tstzmultirange
language plpgsql stable
as $$
declare
  width    interval := upkeep.bucket_width(backed.rollup);
  divided  boolean;
  chunks   tstzmultirange;
  lost     tstzmultirange;
begin
  if from_at >= to_at then
    return '{}';
  end if;
  select
    range_agg(tstzrange(ch.range_start, ch.range_end)),
    range_agg(tstzrange(ch.range_start, ch.range_end)) filter (
      where ch.hypertable_name = 'sample'
        and ch.chunk_creation_time > ch.range_end
        and upkeep.most_samples_lost(ch.range_start, ch.range_end)
    ),
    bool_or(time_bucket(width, ch.range_start) <> ch.range_start or time_bucket(width, ch.range_end) <> ch.range_end)
  into chunks, lost, divided
  from timescaledb_information.continuous_aggregates ca
  join timescaledb_information.chunks ch
    on ch.hypertable_schema = ca.hypertable_schema and ch.hypertable_name = ca.hypertable_name
  where ca.view_schema = 'venuewatch' and ca.view_name = rollup
    and ch.range_end > from_at and ch.range_start < to_at;

  chunks := chunks - coalesce(lost, '{}');
  if divided then
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
