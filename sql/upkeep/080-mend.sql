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
