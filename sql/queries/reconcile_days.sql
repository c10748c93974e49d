-- The days and the five days of one venue that lie wholly within a window, added up from what reconcile_hours.sql counted in all its hours,
-- and compared with what the roll-ups hold.
--
-- $1 venue_id, $2 from, $3 to, $4 the counts of each hour.
-- Returns what differs, by roll-up: [{rollup, rows, from, to, example: {kept, anew}}].
with own as materialized (
  select component_id, kind from component where venue_id = $1::smallint
),
counted as materialized (
  select c.*
  from unnest($4::text[]) as hour (counts)
  cross join jsonb_to_recordset(counts::jsonb) as c (
    rollup text, bucket timestamptz, component_id int, region_id smallint, is_p50 boolean, ms int, n int,
    measured_minutes int, down_minutes int, degraded_minutes int
  )
),
whole as materialized (
  select c.*
  from counted c
  where bucket >= $2::timestamptz
    and bucket + case when rollup = 'usual_hour' then interval '5 days' else interval '1 day' end <= $3::timestamptz
),
anew as (
  select
    'venue_day' as rollup, concat_ws(' ', extract(epoch from bucket)) as key, 1 as copy, bucket as at,
    jsonb_build_object(
      'day', bucket, 'venue_id', $1::smallint, 'measured_minutes', sum(measured_minutes), 'down_minutes', sum(down_minutes),
      'degraded_minutes', sum(degraded_minutes)
    ) as row
  from whole
  where rollup = 'venue_day'
  group by bucket
  union all
  select
    'latency_day', concat_ws(' ', extract(epoch from bucket), component_id, region_id, ms), 1, bucket,
    jsonb_build_object('day', bucket, 'component_id', component_id, 'region_id', region_id, 'p50_ms', ms, 'minutes', sum(n))
  from whole
  where rollup = 'latency_day'
  group by bucket, component_id, region_id, ms
  union all
  select
    'venue_latency_day', concat_ws(' ', extract(epoch from bucket), ms), 1, bucket,
    jsonb_build_object('day', bucket, 'venue_id', $1::smallint, 'p50_ms', ms, 'minutes', sum(n))
  from whole
  join own using (component_id)
  where rollup = 'latency_day' and kind = 'rest'
  group by bucket, ms
  union all
  select
    'usual_hour', concat_ws(' ', extract(epoch from bucket), is_p50, ms), 1, bucket,
    jsonb_build_object('bucket', bucket, 'venue_id', $1::smallint, 'is_p50', is_p50, 'ms', ms, 'hours', sum(n))
  from whole
  where rollup = 'usual_hour'
  group by bucket, is_p50, ms
),
kept as (
  select
    'venue_day' as rollup, concat_ws(' ', extract(epoch from day)) as key, row_number() over (partition by day) as copy,
    day as at, to_jsonb(r) as row
  from venue_day r
  where venue_id = $1::smallint and day >= $2::timestamptz and day <= $3::timestamptz - interval '1 day'
  union all
  select
    'latency_day', concat_ws(' ', extract(epoch from day), component_id, region_id, p50_ms),
    row_number() over (partition by day, component_id, region_id, p50_ms), day, to_jsonb(r)
  from latency_day r
  where component_id in (select component_id from own)
    and day >= $2::timestamptz and day <= $3::timestamptz - interval '1 day'
  union all
  select
    'venue_latency_day', concat_ws(' ', extract(epoch from day), p50_ms), row_number() over (partition by day, p50_ms), day,
    to_jsonb(r)
  from venue_latency_day r
  where venue_id = $1::smallint and day >= $2::timestamptz and day <= $3::timestamptz - interval '1 day'
  union all
  select
    'usual_hour', concat_ws(' ', extract(epoch from bucket), is_p50, ms), row_number() over (partition by bucket, is_p50, ms),
    bucket, to_jsonb(r)
  from usual_hour r
  where venue_id = $1::smallint and bucket >= $2::timestamptz and bucket <= $3::timestamptz - interval '5 days'
),
compared as (
  select rollup, at, k.row as kept, a.row as anew
  from anew a full join kept k using (rollup, key, copy, at)
  where a.row is distinct from k.row
),
differences as (
  select
    rollup,
    count(*)::int as rows,
    min(at) as "from",
    max(at) as "to",
    (array_agg(jsonb_build_object('kept', kept, 'anew', anew) order by at))[1] as example
  from compared
  group by rollup
)
select coalesce(json_agg(to_json(d) order by rollup), '[]') as differences from differences d
