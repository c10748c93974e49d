-- One hour of one venue, recomputed from its samples and compared with the roll-ups by minute and hour.
--
-- $1 venue_id, $2 from, $3 to: an hour that is over.
--
-- Returns the number of samples; how many are `lost`; and the differences by roll-up (upkeep.differences).
--
-- Deliberately written differently from schema/005-rollups.sql, because the same code would repeat the errors that this
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
    nullif(array_remove(array_agg(fault order by fault), null), '{}') as faults
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
    sum((samples - good - limited.times >= good + limited.times)::int) as regions_down,
    sum((samples - good >= 0.2 * samples)::int) as regions_bad
  from sample_minute_recomputed
  cross join lateral (select count(*) as times from unnest(faults) as one where one = 'limited') limited
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
counted_hours as materialized (
  select
    date_trunc('hour', minute) as hour,
    whose,
    count(*) as measured,
    sum(down::int) as down,
    sum((bad and not down)::int) as degraded
  from counted_minutes
  group by 1, 2
),
component_hour_recomputed as (
  select
    hour, whose::int as component_id, measured as measured_minutes, down as down_minutes, degraded as degraded_minutes
  from counted_hours
  where whose !~ '^[a-z]'
),
venue_hour_recomputed as (
  select
    a.hour,
    $1::smallint as venue_id,
    a.measured as measured_minutes,
    a.down as down_minutes,
    a.degraded as degraded_minutes,
    coalesce(r.measured, 0) as rest_minutes,
    coalesce(r.down, 0) as rest_down_minutes,
    coalesce(s.measured, 0) as stream_minutes,
    coalesce(s.down, 0) as stream_down_minutes
  from counted_hours a
  left join counted_hours r on r.hour = a.hour and r.whose = 'rest'
  left join counted_hours s on s.hour = a.hour and s.whose = 'stream'
  where a.whose = 'all'
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
  select 'component_hour', to_jsonb(r) from component_hour_recomputed r where hour < (select hours_to from added_up)
  union all
  select 'venue_hour', to_jsonb(r) from venue_hour_recomputed r where hour < (select hours_to from added_up)
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
  where hour >= $2 and hour < $3 and hour < (select hours_to from added_up)
    and component_id = any ((select components from own)::int[])
  union all
  select 'venue_hour', to_jsonb(r)
  from venue_hour r
  where hour >= $2 and hour < $3 and hour < (select hours_to from added_up) and venue_id = $1
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
)
select
  (select count(*)::int from taken) as samples,
  (select coalesce(samples, 0)::int from lost) as lost,
  (
    select coalesce(json_agg(d order by d.rollup), '[]')
    from upkeep.differences(
      array(select (rollup, row)::upkeep.rollup_row from kept),
      array(select (rollup, row)::upkeep.rollup_row from recomputed)
    ) d
    -- while minutes are being excluded, what is derived from them is not compared
    where not exists (
      select from excluded_minute x where not x.applied and x.minute >= $2::timestamptz and x.minute < $3::timestamptz
    )
  ) as differences
