-- A day or five days of one venue, added up from the counts of reconcile_hours.sql over all its hours, and compared
-- with the roll-ups.
--
-- $1 venue_id, $2 start of the bucket, $3 the roll-ups, $4 the sums: {rollup: {key: [values]}}. Returns the differences
-- by roll-up: [{rollup, rows, from, to, example: {kept, recomputed}}]; the example has the columns of its key and the
-- counts.
with counted as materialized (
  select r.rollup, k.key, array(select jsonb_array_elements_text(k.counts)::int) as counts
  from jsonb_each($4::jsonb) as r (rollup, keys)
  cross join jsonb_each(r.keys) as k (key, counts)
),
-- all three-hour stretches of a component, or of a part of the venue
of_days as (
  select
    rollup,
    split_part(key, ' ', 1) as whose,
    array[sum(counts[1]), sum(counts[2]), sum(counts[3]), sum(counts[4]), sum(counts[1] * counts[1])]::int[] as counts
  from counted
  where rollup in ('component_day', 'venue_day')
  group by 1, 2
),
recomputed as (
  select rollup, key, 1 as copy, counts
  from counted
  where rollup not in ('component_day', 'venue_day')
  union all
  select rollup, whose, 1, counts
  from of_days
  where rollup = 'component_day'
  union all
  select
    rollup,
    '',
    1,
    max(counts) filter (where whose = 'all')
      || coalesce(max(counts) filter (where whose = 'rest'), '{0,0,0,0,0}')
      || coalesce(max(counts) filter (where whose = 'stream'), '{0,0,0,0,0}')
  from of_days
  where rollup = 'venue_day'
  group by rollup
  union all
  select 'venue_latency_day', split_part(key, ' ', 3), 1, array[sum(counts[1])::int]
  from counted
  join component on component_id = split_part(key, ' ', 1)::int
  where rollup = 'latency_day' and kind = 'rest'
  group by split_part(key, ' ', 3)
),
kept as (
  select
    'venue_day' as rollup,
    '' as key,
    row_number() over () as copy,
    array[
      measured_minutes, down_minutes, degraded_minutes, half_hour_squares, three_hour_squares,
      rest_minutes, rest_down_minutes, 0, rest_half_hour_squares, rest_three_hour_squares,
      stream_minutes, stream_down_minutes, 0, stream_half_hour_squares, stream_three_hour_squares
    ]::int[] as counts
  from venue_day
  where 'venue_day' = any ($3::text[]) and venue_id = $1::smallint and day = $2::timestamptz
  union all
  select
    'component_day', component_id::text, row_number() over (partition by component_id),
    array[measured_minutes, down_minutes, degraded_minutes, half_hour_squares, three_hour_squares]
  from component_day
  where 'component_day' = any ($3::text[]) and day = $2::timestamptz
    and component_id = any (array(select component_id from component where venue_id = $1::smallint))
  union all
  select
    'latency_day',
    concat_ws(' ', component_id, region_id, p50_ms),
    row_number() over (partition by component_id, region_id, p50_ms),
    array[minutes]::int[]
  from latency_day
  where 'latency_day' = any ($3::text[]) and day = $2::timestamptz
    and component_id = any (array(select component_id from component where venue_id = $1::smallint))
  union all
  select 'venue_latency_day', p50_ms::text, row_number() over (partition by p50_ms), array[minutes]::int[]
  from venue_latency_day
  where 'venue_latency_day' = any ($3::text[]) and venue_id = $1::smallint and day = $2::timestamptz
  union all
  select 'usual_hour', concat_ws(' ', is_p50, ms), row_number() over (partition by is_p50, ms), array[hours]::int[]
  from usual_hour
  where 'usual_hour' = any ($3::text[]) and venue_id = $1::smallint and bucket = $2::timestamptz
),
compared as (
  select
    rollup,
    case when k.counts is not null then jsonb_build_object('key', key, 'counts', k.counts) end as kept,
    case when a.counts is not null then jsonb_build_object('key', key, 'counts', a.counts) end as recomputed
  from recomputed a
  full join kept k using (rollup, key, copy)
  where a.counts is distinct from k.counts
    and rollup = any ($3::text[])
    -- while minutes are being excluded, what is derived from them is not compared
    and not exists (
      select
      from excluded_minute x
      where not x.applied and x.minute >= $2::timestamptz and x.minute < $2::timestamptz + interval '24 hours'
    )
),
differences as (
  select
    rollup,
    count(*)::int as rows,
    $2::timestamptz as "from",
    $2::timestamptz as "to",
    (array_agg(jsonb_build_object('kept', kept, 'recomputed', recomputed)))[1] as example
  from compared
  group by rollup
)
select coalesce(json_agg(to_json(d) order by rollup), '[]') as differences from differences d
