-- One UTC day of one venue, added up from its minutes and compared with the roll-ups by day; and the five days that
-- begin with it, if any do, from its hours. Minutes and hours are compared with the samples by reconcile_hour.sql.
--
-- $1 venue_id, $2 the day, which is added up. Returns the number of samples that were rolled up; `lost`, 0; and the
-- differences by roll-up (upkeep.differences). Written differently from schema/005-rollups.sql, as reconcile_hour.sql
-- is.
with own as materialized (
  select component_id, kind = 'rest' as is_rest from component where venue_id = $1::smallint
),
day as materialized (
  select
    tstzrange($2::timestamptz, $2::timestamptz + interval '24 hours') as whole,
    -- five days that begin with it, once they are over; empty if none do
    case
      when date_bin('5 days', $2, '2000-01-03') = $2
        and $2 + interval '120 hours' <= time_bucket('5 days', now() - upkeep.kept_after())
        then tstzrange($2, $2 + interval '120 hours')
      else 'empty'
    end as five
),
minutes as materialized (
  select m.*
  from sample_minute m, day
  where m.minute >= lower(day.whole) and m.minute < upper(day.whole)
    and m.component_id = any (array(select component_id from own))
),
venue_minutes as (
  select
    m.down,
    m.bad,
    m.rest_components > 0 and m.rest_components >= m.rest_published / 2.0 as has_rest,
    m.rest_down > 0 and m.rest_down >= m.rest_published / 2.0 as rest_is_down,
    m.components > m.rest_components
      and m.components - m.rest_components >= (m.components_published - m.rest_published) / 2.0 as has_streams,
    m.components_down > m.rest_down
      and m.components_down - m.rest_down >= (m.components_published - m.rest_published) / 2.0 as streams_are_down
  from venue_minute m, day
  where m.minute <@ day.whole and m.venue_id = $1
),
medians as (
  select
    component_id,
    region_id,
    -- a half rounds to the even millisecond
    case when p50_us % 1000 = 500 then p50_us / 1000 + p50_us / 1000 % 2 else (p50_us + 500) / 1000 end as p50_ms
  from minutes
  where p50_us is not null
),
hours as materialized (
  select h.samples, h.good, h.p50_us, h.p95_us, own.is_rest
  from sample_hour h
  join own using (component_id)
  cross join day
  where h.hour >= $2 and h.hour < $2::timestamptz + interval '120 hours' and h.hour <@ day.five
),
recomputed (rollup, row) as (
  select 'component_day', to_jsonb(r)
  from (
    select
      $2::timestamptz as day,
      m.component_id,
      sum(1) as measured_minutes,
      sum(m.down::int) as down_minutes,
      sum((m.bad and not m.down)::int) as degraded_minutes
    from component_minute m, day
    where m.minute <@ day.whole and m.measured and m.component_id = any (array(select component_id from own))
    group by m.component_id
  ) r
  union all
  select 'venue_day', to_jsonb(r)
  from (
    select
      $2::timestamptz as day,
      $1::smallint as venue_id,
      sum(1) as measured_minutes,
      sum(down::int) as down_minutes,
      sum((bad and not down)::int) as degraded_minutes,
      sum(has_rest::int) as rest_minutes,
      sum((has_rest and rest_is_down)::int) as rest_down_minutes,
      sum(has_streams::int) as stream_minutes,
      sum((has_streams and streams_are_down)::int) as stream_down_minutes
    from venue_minutes
    having count(*) > 0
  ) r
  union all
  select 'latency_day', to_jsonb(r)
  from (
    select $2::timestamptz as day, component_id, region_id, p50_ms, count(*) as minutes
    from medians
    group by component_id, region_id, p50_ms
  ) r
  union all
  select 'venue_latency_day', to_jsonb(r)
  from (
    select $2::timestamptz as day, $1::smallint as venue_id, p50_ms, count(*) as minutes
    from medians
    join own using (component_id)
    where own.is_rest
    group by p50_ms
  ) r
  union all
  select 'usual_hour', to_jsonb(r)
  from (
    select $2::timestamptz as bucket, $1::smallint as venue_id, p.is_p50, p.ms, count(*) as hours
    from hours
    cross join lateral (
      values
        (true, round(p50_us::double precision / 1000)::int),
        (false, round(p95_us::double precision / 1000)::int)
    ) as p (is_p50, ms)
    where is_rest and p50_us is not null and good >= 10
    group by p.is_p50, p.ms
  ) r
),
kept (rollup, row) as (
  select 'component_day', to_jsonb(r)
  from component_day r
  where day = $2 and component_id = any (array(select component_id from own))
  union all
  select 'venue_day', to_jsonb(r) from venue_day r where day = $2 and venue_id = $1
  union all
  select 'latency_day', to_jsonb(r)
  from latency_day r
  where day = $2 and component_id = any (array(select component_id from own))
  union all
  select 'venue_latency_day', to_jsonb(r) from venue_latency_day r where day = $2 and venue_id = $1
  union all
  select 'usual_hour', to_jsonb(r)
  from usual_hour r, day
  where r.bucket = $2 and r.venue_id = $1 and not isempty(day.five)
)
select
  (select coalesce(sum(samples), 0)::int from (select samples from minutes union all select samples from hours) s)
    as samples,
  0 as lost,
  (
    select coalesce(json_agg(d order by d.rollup), '[]')
    from upkeep.differences(
      array(select (rollup, row)::upkeep.rollup_row from kept),
      array(select (rollup, row)::upkeep.rollup_row from recomputed)
    ) d
    where not exists (select from excluded_minute x, day where not x.applied and x.minute <@ day.whole)
  ) as differences
