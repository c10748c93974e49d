-- Mending roll-ups that differ from their samples.

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
    last := least(last, (select m.hours_to from added_up m));
  elsif rollup in ('component_day', 'venue_day') then
    last := least(last, (select m.days_to from added_up m));
  end if;
  if first < last then
    call upkeep.refresh(rollup, first, last, force => true);
    if rollup = 'venue_day' then
      call upkeep.store_maintenance(first, last);
    end if;
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

-- A row of a roll-up.
create type upkeep.rollup_row as (rollup text, row jsonb);

-- The rows that are missing, surplus or wrong, by roll-up: how many, in which buckets, and the first one as kept and as
-- recomputed; null where it is missing.
create function upkeep.differences(kept upkeep.rollup_row[], recomputed upkeep.rollup_row[])
returns table (rollup text, rows integer, "from" timestamptz, "to" timestamptz, example jsonb)
language sql stable
as $$
  -- what names a row of each roll-up; the first column is its bucket
  with keys (rollup, columns) as (
    values
      ('sample_minute', '{minute,component_id,region_id}'::text[]),
      ('sample_hour', '{hour,component_id,region_id}'),
      ('rest_hour', '{hour,region_id}'),
      ('stream_hour', '{hour,component_id,region_id}'),
      ('latency_hour', '{hour,component_id,region_id,ms}'),
      ('component_minute', '{minute,component_id}'),
      ('venue_minute', '{minute}'),
      ('component_hour', '{hour,component_id}'),
      ('venue_hour', '{hour}'),
      ('component_day', '{day,component_id}'),
      ('venue_day', '{day}'),
      ('latency_day', '{day,component_id,region_id,p50_ms}'),
      ('venue_latency_day', '{day,p50_ms}'),
      ('usual_hour', '{bucket,is_p50,ms}')
  ),
  -- a second row of the same key is a difference too, which `except all` counts
  on_one_side as (
    select 'kept' as side, k.rollup, k.row
    from (select * from unnest(kept) except all select * from unnest(recomputed)) k
    union all
    select 'recomputed', r.rollup, r.row
    from (select * from unnest(recomputed) except all select * from unnest(kept)) r
  ),
  named as (
    select o.*, key, key[1]::timestamptz as at, row_number() over (partition by side, o.rollup, key) as copy
    from on_one_side o
    join keys using (rollup)
    cross join lateral (select array(select o.row ->> name from unnest(columns) as name)) as k (key)
  ),
  compared as (
    select
      rollup,
      at,
      (array_agg(row) filter (where side = 'kept'))[1] as kept,
      (array_agg(row) filter (where side = 'recomputed'))[1] as recomputed
    from named
    group by rollup, key, at, copy
  )
  select
    rollup,
    count(*)::int,
    min(at),
    max(at),
    (array_agg(jsonb_build_object('kept', kept, 'recomputed', recomputed) order by at))[1]
  from compared
  group by rollup
$$;
