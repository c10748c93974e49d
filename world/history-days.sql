-- The days of a history before today, counted as if every minute had been measured. Real samples for all of them would
-- number three hundred million, so these days are written into the roll-ups themselves. Returns one row for each level:
-- {rollup, days}, whose rows are to be inserted.
--
-- $1 the first day, $2 today, $3 past faults as in history.sql.
with faults as materialized (
  select f.*, tstzrange(f."from", f."to") as during
  from jsonb_to_recordset($3::jsonb) as f (
    venue text, component text, regions text[], shows fault, "slowMs" int, "from" timestamptz, "to" timestamptz
  )
  -- a fault in one region alone brings nothing down, and a slow answer is a good one
  where (f.regions is null or cardinality(f.regions) > 1) and f.shows is not null
),
days as (
  select day, tstzrange(day, day + interval '24 hours') as whole
  from generate_series($1::timestamptz, $2::timestamptz - interval '24 hours', interval '24 hours') as day
),
-- the faults of a component on a day; where a socket is down, so are its streams
befallen as (
  select d.day, c.component_id, range_agg(f.during * d.whole) as during
  from faults f
  join days d on f.during && d.whole
  join venue v on f.venue is null or f.venue = v.venue
  join component c on c.venue_id = v.venue_id
    and (
      f.component is null or f.component in (c.component, c.kind || ':*') or f.component = 'ws:conn' and c.kind = 'ws'
    )
  group by 1, 2
),
-- a minute counts as down if a fault touches it
counted as (
  select
    b.day,
    b.component_id,
    sum(m.minutes)::int as down
  from befallen b
  cross join lateral (
    select sum(
      extract(epoch from date_trunc('minute', upper(r) - interval '1 ms') - date_trunc('minute', lower(r))) / 60 + 1
    ) as minutes
    from unnest(b.during) as r
  ) m
  group by 1, 2
),
component_days as (
  select
    d.day, c.component_id, 1440 as measured_minutes, coalesce(b.down, 0) as down_minutes, 0 as degraded_minutes
  from days d
  cross join component c
  left join counted b using (day, component_id)
  where c.published
),
-- No venue has two old faults at once on one day, so its minutes are those of its worst component.
parts as (
  select
    o.day,
    c.venue_id,
    c.kind = 'rest' as is_rest,
    count(*) as components,
    count(*) filter (where o.down_minutes > 0) as down,
    max(o.down_minutes) as down_minutes
  from component_days o
  join component c using (component_id)
  group by 1, 2, 3
),
venues as (
  select
    p.day,
    p.venue_id,
    max(p.down_minutes) as bad_minutes,
    bool_or(p.is_rest) as has_rest,
    bool_or(not p.is_rest) as has_streams,
    coalesce(max(p.down_minutes) filter (where p.is_rest and p.down * 2 >= p.components), 0) as rest_down_minutes,
    coalesce(max(p.down_minutes) filter (where not p.is_rest and p.down * 2 >= p.components), 0) as stream_down_minutes
  from parts p
  group by 1, 2
),
venue_days as (
  select
    v.day,
    v.venue_id,
    1440 as measured_minutes,
    d.minutes as down_minutes,
    v.bad_minutes - d.minutes as degraded_minutes,
    case when v.has_rest then 1440 else 0 end as rest_minutes,
    v.rest_down_minutes,
    case when v.has_streams then 1440 else 0 end as stream_minutes,
    v.stream_down_minutes
  from venues v
  -- either kind is enough for the venue to be down
  cross join lateral (select greatest(v.rest_down_minutes, v.stream_down_minutes) as minutes) d
),
-- Windows of announced maintenance, which have whole minutes here, as the past readings have stored them.
maintained as (
  select
    v.venue_id, d.day, range_agg(tstzrange(n.window_from, least(n.window_until, n.resolved_at)) * d.whole) as during
  from notice n
  join venue v using (feed_id)
  join days d on tstzrange(n.window_from, least(n.window_until, n.resolved_at)) && d.whole
  where n.window_from is not null
    and (v.official_about is null or lower(n.title) like any (v.official_about))
    and not coalesce(lower(n.title) like any (v.official_not_about), false)
  group by 1, 2
),
maintained_components as (
  select
    m.venue_id,
    c.component_id,
    m.day,
    (select sum(extract(epoch from upper(r) - lower(r)) / 60)::int from unnest(m.during) as r) as minutes,
    coalesce(
      (select sum(extract(epoch from upper(r) - lower(r)) / 60)::int from unnest(m.during * b.during) as r), 0
    ) as down_minutes
  from maintained m
  join component c using (venue_id)
  left join befallen b using (day, component_id)
  where c.published
),
maintenance_days as (
  select
    c.venue_id, c.component_id, c.day, c.minutes, c.minutes as measured_minutes, c.down_minutes
  from maintained_components c
  union all
  -- all of a venue's REST fails in them, or nothing does
  select c.venue_id, null, c.day, max(c.minutes), max(c.minutes), max(c.down_minutes)
  from maintained_components c
  group by 1, 3
)
select 'component_day' as rollup, coalesce(jsonb_agg(to_jsonb(c)), '[]') as days from component_days c
union all
select 'venue_day', coalesce(jsonb_agg(to_jsonb(v)), '[]') from venue_days v
union all
select 'maintenance_day', coalesce(jsonb_agg(to_jsonb(m)), '[]') from maintenance_days m
