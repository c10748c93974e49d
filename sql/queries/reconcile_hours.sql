-- Some whole hours of one venue, recomputed from its samples and compared with the roll-ups.
--
-- $1 venue_id, $2 from, $3 to: whole hours that are over and have all their samples; $4 what to count for
-- reconcile_days.sql.
--
-- Returns the number of samples; how many are `lost`; the differences by roll-up: [{rollup, rows, from, to, example:
-- {kept, recomputed}}]; and `counts`, whose sums are days and five days: [{rollup, bucket (seconds), key, counts}].
--
-- Deliberately written differently from schema/003-rollups.sql, because the same code would repeat the errors that this
-- is to find. Buckets are cut by date_trunc, percentiles are taken from sorted arrays, faults are sums of booleans, and
-- every level is computed from the samples.
with own as materialized (
  select array_agg(component_id) as components from component where venue_id = $1::smallint
),
taken as materialized (
  select
    s.*,
    date_trunc('minute', s.ts) as minute,
    date_trunc('hour', s.ts) as hour,
    case when s.good then s.latency_us end as good_us
  from sample s
  where s.ts >= $2::timestamptz and s.ts < $3::timestamptz
    and s.component_id = any ((select components from own)::int[])
),
sample_minute_recomputed as materialized (
  select
    minute,
    component_id,
    region_id,
    count(*) as samples,
    sum(good::int) as good,
    round(upkeep.share_of_sorted(array_remove(array_agg(good_us order by good_us), null), 0.5))::int as p50_us,
    round(upkeep.share_of_sorted(array_remove(array_agg(good_us order by good_us), null), 0.95))::int as p95_us,
    max(head) as head,
    sum(messages) as messages,
    max(quiet_ms) as quiet_ms,
    max(event_age_ms) as event_age_ms,
    sum((fault is not distinct from 'dns')::int) as dns,
    sum((fault is not distinct from 'connect')::int) as connect,
    sum((fault is not distinct from 'tls')::int) as tls,
    sum((fault is not distinct from 'timeout')::int) as timeout,
    sum((fault is not distinct from 'http')::int) as http,
    sum((fault is not distinct from 'blocked')::int) as blocked,
    sum((fault is not distinct from 'limited')::int) as limited,
    sum((fault is not distinct from 'halted')::int) as halted,
    sum((fault is not distinct from 'body')::int) as body,
    sum((fault is not distinct from 'handshake')::int) as handshake,
    sum((fault is not distinct from 'closed')::int) as closed,
    sum((fault is not distinct from 'stall')::int) as stall
  from taken
  group by minute, component_id, region_id
),
sample_hour_recomputed as materialized (
  select
    hour,
    component_id,
    region_id,
    count(*) as samples,
    sum(good::int) as good,
    round(upkeep.share_of_sorted(array_remove(array_agg(good_us order by good_us), null), 0.5))::int as p50_us,
    round(upkeep.share_of_sorted(array_remove(array_agg(good_us order by good_us), null), 0.95))::int as p95_us
  from taken
  group by hour, component_id, region_id
),
rest_hour_recomputed as (
  select
    hour,
    $1::smallint as venue_id,
    region_id,
    sum(1) as samples,
    upkeep.share_of_sorted(array_remove(array_agg(good_us order by good_us), null), 0.5) as p50_us,
    upkeep.share_of_sorted(array_remove(array_agg(good_us order by good_us), null), 0.95) as p95_us
  from taken
  join component using (component_id)
  where kind = 'rest' and good
  group by hour, region_id
),
stream_hour_recomputed as (
  select
    hour,
    component_id,
    region_id,
    sum(1) as samples,
    sum(good::int) as good,
    sum(messages::bigint) as messages,
    (array_agg(quiet_ms order by quiet_ms desc nulls last))[1] as quiet_ms,
    sum(sequence_gaps::bigint) as sequence_gaps
  from taken
  where component_id in (select c.component_id from component c where c.kind = 'ws')
  group by hour, component_id, region_id
),
latency_hour_recomputed as (
  select
    hour,
    component_id,
    region_id,
    -- a half rounds to the even millisecond
    case
      when latency_us % 1000 = 500 then latency_us / 1000 + latency_us / 1000 % 2
      else (latency_us + 500) / 1000
    end as ms,
    sum(1) as samples,
    (array_agg(latency_us order by latency_us))[1] as least_us,
    (array_agg(latency_us order by latency_us desc))[1] as most_us
  from taken
  join component using (component_id)
  where kind = 'rest' and good and latency_us is not null
  group by 1, 2, 3, 4
),
-- A region's vote: down if at least as many samples failed, other than by a limit of our requests, as did not; bad from
-- a fifth on. An impaired region has none, and neither has any in a minute that says nothing about the venue.
votes as (
  select
    minute,
    component_id,
    count(*) as regions,
    sum((samples - good - limited >= good + limited)::int) as regions_down,
    sum((samples - good >= 0.2 * samples)::int) as regions_bad
  from sample_minute_recomputed
  where (region_id, minute) not in (
    select x.region_id, x.minute from excluded_minute x where x.minute >= $2::timestamptz and x.minute < $3::timestamptz
  )
    and not exists (
      select from unjudged u
      where u.component_id = sample_minute_recomputed.component_id
        and tstzrange(u.started_at, u.ended_at) && tstzrange(minute, minute + interval '1 minute')
    )
  group by minute, component_id
),
-- one region is enough if no other was published
judged as (
  select
    v.*,
    v.regions > 1
      or (
        select p.regions from regions_published p where p.holds_from <= v.minute order by p.holds_from desc limit 1
      ) < 2 as measured
  from votes v
),
component_minute_recomputed as materialized (
  select
    minute, component_id, regions, regions_down, regions_bad, measured,
    measured and regions_down > regions - regions_down as down,
    measured and regions_bad > regions - regions_bad as bad
  from judged
),
venue_minute_recomputed as materialized (
  select
    minute,
    $1::smallint as venue_id,
    count(*) as components,
    sum(down::int) as components_down,
    sum(bad::int) as components_bad,
    p.rest + p.streams as components_published,
    sum(is_rest) as rest_components,
    sum(is_rest * down::int) as rest_down,
    p.rest as rest_published,
    sum(is_rest * down::int) > 0 and 2 * sum(is_rest * down::int) >= p.rest
      or sum((1 - is_rest) * down::int) > 0 and 2 * sum((1 - is_rest) * down::int) >= p.streams as down,
    bool_or(bad) as bad
  from component_minute_recomputed
  join (select component_id, (kind = 'rest')::int as is_rest from component) c using (component_id)
  join components_published p on p.venue_id = $1 and tstzrange(p.holds_from, p.holds_to) @> minute
  where measured
  group by minute, p.rest, p.streams
  having count(*) >= (p.rest + p.streams) / 2.0
),
-- of the venue as a whole, of its REST, and of the rest of it
venue_parts as (
  select minute, 'all' as part, down, bad from venue_minute_recomputed
  union all
  select minute, 'rest', rest_down > 0 and rest_down >= rest_published / 2.0, false
  from venue_minute_recomputed
  where rest_components > 0 and rest_components >= rest_published / 2.0
  union all
  select
    minute,
    'stream',
    components_down > rest_down and components_down - rest_down >= (components_published - rest_published) / 2.0,
    false
  from venue_minute_recomputed
  where components > rest_components
    and components - rest_components >= (components_published - rest_published) / 2.0
),
-- whose minutes are counted: a component's, or a part of the venue's
counted_minutes as (
  select minute, component_id::text as whose, down, bad from component_minute_recomputed where measured
  union all
  select minute, part, down, bad from venue_parts
),
counted_halves as (
  select
    date_bin('30 minutes', minute, '2000-01-03') as half,
    whose,
    count(*) as measured,
    sum(down::int) as down,
    sum((bad and not down)::int) as degraded
  from counted_minutes
  group by 1, 2
),
counted_hours as materialized (
  select
    date_trunc('hour', half) as hour,
    whose,
    sum(measured) as measured,
    sum(down) as down,
    sum(degraded) as degraded,
    sum(measured * measured) as squares
  from counted_halves
  group by 1, 2
),
component_hour_recomputed as materialized (
  select
    hour, whose::int as component_id, measured as measured_minutes, down as down_minutes, degraded as degraded_minutes,
    squares as half_hour_squares
  from counted_hours
  where whose !~ '^[a-z]'
),
venue_hour_recomputed as materialized (
  select
    a.hour, $1::smallint as venue_id, a.measured as measured_minutes, a.down as down_minutes,
    a.degraded as degraded_minutes,
    a.squares as half_hour_squares,
    coalesce(r.measured, 0) as rest_minutes,
    coalesce(r.down, 0) as rest_down_minutes,
    coalesce(r.squares, 0) as rest_half_hour_squares,
    coalesce(s.measured, 0) as stream_minutes,
    coalesce(s.down, 0) as stream_down_minutes,
    coalesce(s.squares, 0) as stream_half_hour_squares
  from counted_hours a
  left join counted_hours r on r.hour = a.hour and r.whose = 'rest'
  left join counted_hours s on s.hour = a.hour and s.whose = 'stream'
  where a.whose = 'all'
),
-- What names a row of each roll-up; the first column is its bucket.
keys (rollup, columns) as (
  values
    ('sample_minute', '{minute,component_id,region_id}'::text[]),
    ('sample_hour', '{hour,component_id,region_id}'),
    ('rest_hour', '{hour,region_id}'),
    ('stream_hour', '{hour,component_id,region_id}'),
    ('latency_hour', '{hour,component_id,region_id,ms}'),
    ('component_minute', '{minute,component_id}'),
    ('venue_minute', '{minute}'),
    ('component_hour', '{hour,component_id}'),
    ('venue_hour', '{hour}')
),
recomputed (rollup, row) as materialized (
  select 'sample_minute', to_jsonb(r) from sample_minute_recomputed r
  union all
  select 'sample_hour', to_jsonb(r) from sample_hour_recomputed r
  union all
  select 'rest_hour', to_jsonb(r) from rest_hour_recomputed r
  union all
  select 'stream_hour', to_jsonb(r) from stream_hour_recomputed r
  union all
  select 'latency_hour', to_jsonb(r) from latency_hour_recomputed r
  union all
  select 'component_minute', to_jsonb(r) from component_minute_recomputed r
  union all
  select 'venue_minute', to_jsonb(r) from venue_minute_recomputed r
  union all
  select 'component_hour', to_jsonb(r) from component_hour_recomputed r where hour < (select hours_to from rollups_made)
  union all
  select 'venue_hour', to_jsonb(r) from venue_hour_recomputed r where hour < (select hours_to from rollups_made)
),
kept (rollup, row) as materialized (
  select 'sample_minute', to_jsonb(r)
  from sample_minute r
  where minute >= $2 and minute < $3 and component_id = any ((select components from own)::int[])
  union all
  select 'sample_hour', to_jsonb(r)
  from sample_hour r
  where hour >= $2 and hour < $3 and component_id = any ((select components from own)::int[])
  union all
  select 'rest_hour', to_jsonb(r) from rest_hour r where hour >= $2 and hour < $3 and venue_id = $1
  union all
  select 'stream_hour', to_jsonb(r)
  from stream_hour r
  where hour >= $2 and hour < $3 and component_id = any ((select components from own)::int[])
  union all
  select 'latency_hour', to_jsonb(r)
  from latency_hour r
  where hour >= $2 and hour < $3 and component_id = any ((select components from own)::int[])
  union all
  select 'component_minute', to_jsonb(r)
  from component_minute r
  where minute >= $2 and minute < $3 and component_id = any ((select components from own)::int[])
  union all
  select 'venue_minute', to_jsonb(r) from venue_minute r where minute >= $2 and minute < $3 and venue_id = $1
  union all
  select 'component_hour', to_jsonb(r)
  from component_hour r
  where hour >= $2 and hour < $3 and hour < (select hours_to from rollups_made)
    and component_id = any ((select components from own)::int[])
  union all
  select 'venue_hour', to_jsonb(r)
  from venue_hour r
  where hour >= $2 and hour < $3 and hour < (select hours_to from rollups_made) and venue_id = $1
),
-- a second row of the same key is a difference too, which `except all` counts
on_one_side as (
  select 'kept' as side, k.* from (select * from kept except all select * from recomputed) k
  union all
  select 'recomputed', r.* from (select * from recomputed except all select * from kept) r
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
),
differences as (
  select
    rollup,
    count(*)::int as rows,
    min(at) as "from",
    max(at) as "to",
    (array_agg(jsonb_build_object('kept', kept, 'recomputed', recomputed) order by at))[1] as example
  from compared
  -- while minutes are being excluded, what is derived from them is not compared
  where not exists (
    select from excluded_minute x where not x.applied and x.minute >= $2::timestamptz and x.minute < $3::timestamptz
  )
  group by rollup
),
-- Samples are only ever added. If minutes and hours, which are computed from them independently, both have more,
-- samples are gone.
lost as (
  select sum(least(m.samples, h.samples) - coalesce(a.samples, 0)) as samples
  from (
    select date_trunc('hour', minute) as hour, component_id, region_id, sum(samples) as samples
    from sample_minute
    where minute >= $2::timestamptz
      and minute < $3::timestamptz
      and component_id = any ((select components from own)::int[])
    group by 1, 2, 3
  ) m
  join (
    select hour, component_id, region_id, sum(samples) as samples
    from sample_hour
    where hour >= $2::timestamptz
      and hour < $3::timestamptz
      and component_id = any ((select components from own)::int[])
    group by 1, 2, 3
  ) h using (hour, component_id, region_id)
  left join sample_hour_recomputed a using (hour, component_id, region_id)
  where least(m.samples, h.samples) > coalesce(a.samples, 0)
),
-- by three hours, whose squares are needed too
counts as (
  select
    case when whose ~ '^[a-z]' then 'venue_day' else 'component_day' end as rollup,
    date_trunc('day', hour) as bucket,
    concat_ws(' ', whose, extract(hour from hour at time zone 'UTC')::int / 3) as key,
    array[sum(measured), sum(down), sum(degraded), sum(squares)] as counts
  from counted_hours
  where $4::text[] && array['component_day', 'venue_day']
  group by 1, 2, 3
  union all
  select
    'latency_day', date_trunc('day', minute), concat_ws(' ', component_id, region_id, ms), array[count(*)]
  from sample_minute_recomputed
  cross join lateral (
    -- a half rounds to the even millisecond
    select case when p50_us % 1000 = 500 then p50_us / 1000 + p50_us / 1000 % 2 else (p50_us + 500) / 1000 end as ms
  ) whole
  where 'latency_day' = any ($4::text[]) and p50_us is not null
  group by date_trunc('day', minute), component_id, region_id, ms
  union all
  select
    'usual_hour', date_bin('5 days', hour, '2000-01-03'),
    concat_ws(' ', is_p50, round((case when is_p50 then p50_us else p95_us end)::double precision / 1000)::int),
    array[count(*)]
  from sample_hour_recomputed
  join component using (component_id)
  cross join (values (true), (false)) as percentile (is_p50)
  where 'usual_hour' = any ($4::text[]) and kind = 'rest' and p50_us is not null and good >= 10
  group by
    date_bin('5 days', hour, '2000-01-03'),
    is_p50,
    round((case when is_p50 then p50_us else p95_us end)::double precision / 1000)::int
)
select
  (select count(*)::int from taken) as samples,
  (select coalesce(samples, 0)::int from lost) as lost,
  (select coalesce(json_agg(to_json(d) order by rollup), '[]') from differences d) as differences,
  (
    select coalesce(
      json_agg(
        json_build_object('rollup', rollup, 'bucket', extract(epoch from bucket)::int8, 'key', key, 'counts', counts)
      ),
      '[]'
    )
    from counts
  ) as counts
