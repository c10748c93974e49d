-- A point of a sparkline; a row type, as api.uptime is.
create type api.sparkline_point as ("at" text, "p50Ms" integer, "samples" bigint);

-- The uptime of each published venue over ninety days, with its days.
create function api.board_uptimes()
returns table (
  venue_id           smallint,
  measured_days      integer,
  scheduled          bigint,
  measured           bigint,
  down               bigint,
  maintenance        bigint,
  maintenance_measured bigint,
  maintenance_down   bigint,
  days               json,
  "uptimePct"        numeric,
  "measuredMinutes"  bigint,
  "scheduledMinutes" bigint,
  "coveragePct"      numeric,
  "uptimePctLow"     numeric,
  "uptimePctHigh"    numeric
)
language sql stable
as $$
  with bars as (
    select
      d.venue_id,
      count(d.measured_minutes)::int as measured_days,
      sum(d.scheduled_minutes) as scheduled,
      sum(d.measured_minutes) as measured,
      sum(d.down_minutes) as down,
      coalesce(sum(d.maintenance_minutes), 0) as maintenance,
      coalesce(sum(d.maintenance_measured_minutes), 0) as maintenance_measured,
      coalesce(sum(d.maintenance_down_minutes), 0) as maintenance_down,
      json_agg(
        api.uptime_day(
          d.day, d.scheduled_minutes, d.measured_minutes, d.down_minutes, d.degraded_minutes, d.incidents,
          d.maintenance_minutes, d.maintenance_measured_minutes, d.maintenance_down_minutes
        )
        order by d.day
      ) as days
    from api.days(90) d
    group by d.venue_id
  )
  select
    b.venue_id, b.measured_days, b.scheduled, b.measured, b.down, b.maintenance, b.maintenance_measured,
    b.maintenance_down, b.days, u.*
  from bars b
  cross join lateral api.uptime_basis(b.measured, b.down, b.scheduled) u
$$;

-- The last day of latency of each published venue, by hour: REST answers seen from all regions.
create function api.sparklines(only_category text) returns table (venue_id smallint, points json)
language sql stable
as $$
  with snapshot as materialized (
    select k.generated_at, k.published_to from api.clock k
  ),
  -- The text of each hour is formatted once, not per venue: 340 more calls took a fifth of the board's time on the
  -- embedded database.
  hours as materialized (
    select h.hour, api.iso(h.hour) as at
    from snapshot s, generate_series(
      date_trunc('hour', s.generated_at) - interval '23 hours', date_trunc('hour', s.generated_at), interval '1 hour'
    ) as h (hour)
  ),
  -- All at once: if chunks are compressed, each hour alone would unpack ten days of every series. Published hours, and
  -- for current hours the latest figures that upkeep had noted by then (open_hour).
  latency_hours as (
    select c.venue_id, m.hour, sum(m.good) as answers, percentile_cont(0.5) within group (order by m.p50_us) as p50_us
    from sample_hour m
    join api.component c using (component_id)
    where c.kind = 'rest'
      -- excludes hours of streams, and hours without a good answer
      and m.p50_us is not null
      -- without `is true` the planner takes a range of unknown bounds for a narrow one, and looks up a venue for each
      -- row
      and m.hour >= (select min(h.hour) from hours h)
      and (m.hour < (select time_bucket('1 hour', s.published_to) from snapshot s)) is true
      -- for the planner, which excludes chunks only by now()
      and m.hour > now() - interval '2 days'
    group by c.venue_id, m.hour
    union all
    (
      select distinct on (o.venue_id, o.hour) o.venue_id, o.hour, o.answers, o.p50_us
      from open_hour o
      cross join snapshot s
      where o.hour >= time_bucket('1 hour', s.published_to) and o.holds_from <= s.generated_at
      order by o.venue_id, o.hour, o.holds_from desc
    )
  )
  select
    v.venue_id,
    json_agg(
      row(h.at, api.p50_ms(l.p50_us, l.answers::bigint), coalesce(l.answers, 0))::api.sparkline_point order by h.hour
    ) as points
  from venue v
  cross join hours h
  left join latency_hours l using (venue_id, hour)
  where v.published and (only_category is null or v.category = only_category)
  group by v.venue_id
$$;

-- Open incidents that look like one: those of at least `impaired_min_venues` venues that began at once with the first
-- of them. {since, venues: [id]} of the most venues; null if there are none.
create function api.common_trouble(only_category text) returns json
language sql stable
begin atomic
  select json_build_object('since', api.iso(b.since), 'venues', b.venues)
  from (
    select f.started_at as since, count(distinct i.venue) as n, json_agg(distinct i.venue) as venues
    from (
      select distinct i.started_at
      from api.incident i
      where i.closed_at is null and (only_category is null or i.category = only_category)
    ) f
    join api.incident i on i.started_at between f.started_at and f.started_at + api.at_once()
    where i.closed_at is null and (only_category is null or i.category = only_category)
    group by f.started_at
  ) b
  where b.n >= (
    select (f.rules ->> 'impaired_min_venues')::int from rules_in_force f order by f.holds_from desc limit 1
  )
  order by b.n desc, b.since
  limit 1;
end;

-- The live board: every published venue that has not ended, with its ninety days and its last day of latency, and the
-- fleet as a whole. One row.
--
-- plpgsql, because its plan is cached for the life of the connection: it reads so much that planning took a quarter of
-- the time. A generic plan for all categories: with the values of each call it would be no better, and planned each
-- time. One statement, so that all parts describe the same instant.
create function api.board(only_category text, all_categories text[], cadence_ms integer)
returns table (generated_at timestamptz, body text)
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
begin
  return query
  with snapshot as materialized (
    select k.generated_at, k.published_to from api.clock k
  ),
  rows as materialized (
    select v.*
    from api.venue v
    where not v.has_ended and (only_category is null or v.category = only_category)
  ),
  open_incidents as materialized (
    select i.venue_id, i.category, count(*)::int as n
    from api.incident i
    where i.closed_at is null
    group by i.venue_id, i.category
  ),
  typical as materialized (
    select t.* from api.typical t
  ),
  -- only of what is in trouble: votes on everything would cost more than the rest of the components
  votes as materialized (
    select
      s.component_id,
      count(*) filter (where r.not_counted is null and api.agrees(r.state, s.state)) as agreeing,
      count(*) filter (where r.not_counted is null) as counted
    from api.component_state s
    join api.region_vote r using (component_id)
    where s.state in ('degraded', 'outage')
    group by s.component_id
  ),
  components as materialized (
    select
      c.venue_id,
      json_agg(
        json_build_object(
          'component', c.component,
          'state', s.state,
          'since', api.iso(s.since),
          'fault', case when s.state in ('degraded', 'outage') then api.present_fault(c.component_id) end,
          'unknownBecause', case when s.unjudged is not null then api.unknown_because(c.component_id, s.unjudged) end,
          'agreeing', n.agreeing,
          'counted', n.counted
        )
        order by c.position
      ) as components
    from api.component c
    join api.component_state s using (component_id)
    left join votes n using (component_id)
    group by c.venue_id
  ),
  board as (
    select
      coalesce(
        json_agg(
          json_build_object(
            'id', r.venue,
            'name', r.name,
            'category', r.category,
            'symbol', r.symbol,
            'quote', r.quote,
            'ccxtId', r.entry ->> 'ccxtId',
            'state', r.state,
            'since', api.iso(r.since),
            'uptimePct90d', u."uptimePct",
            'measuredDays', u.measured_days,
            'measuredMinutes', u."measuredMinutes",
            'scheduledMinutes', u."scheduledMinutes",
            'coveragePct', u."coveragePct",
            'uptimePctLow', u."uptimePctLow",
            'uptimePctHigh', u."uptimePctHigh",
            'withoutMaintenance', api.without_maintenance(
              u.scheduled, u.measured, u.down, u.maintenance, u.maintenance_measured, u.maintenance_down
            ),
            'typicalMs', t.p50_ms,
            'typicalMinutes', coalesce(t.minutes, 0),
            'typicalAsOf', api.iso(t.holds_from),
            'activeIncidents', coalesce(i.n, 0),
            'maintenance', m.body,
            'components', coalesce(c.components, '[]'),
            'days', u.days,
            'sparkline', s.points
          )
          order by r.position
        ),
        '[]'
      ) as venues,
      count(*) as n,
      count(*) filter (where r.state <> 'unknown') as known,
      count(*) filter (where r.state = 'outage') as outage,
      count(*) filter (where r.state in ('degraded', 'outage')) as bad,
      sum(u.scheduled)::bigint as scheduled,
      sum(u.measured)::bigint as measured,
      sum(u.down)::bigint as down,
      sum(u.maintenance)::bigint as maintenance,
      sum(u.maintenance_measured)::bigint as maintenance_measured,
      sum(u.maintenance_down)::bigint as maintenance_down,
      coalesce(sum(i.n), 0) as active_incidents
    from rows r
    left join api.board_uptimes() u using (venue_id)
    left join api.sparklines(only_category) s using (venue_id)
    left join typical t using (venue_id)
    left join open_incidents i using (venue_id)
    left join components c using (venue_id)
    left join api.maintenance_now() m using (venue_id)
  ),
  categories as (
    select json_agg(
      json_build_object(
        'category', c.category,
        'venues', c.venues,
        'operational', c.operational,
        'degraded', c.degraded,
        'outage', c.outage,
        'unknown', c.unknown,
        'activeIncidents', coalesce((select sum(i.n) from open_incidents i where i.category = c.category), 0)
      )
      order by c.position
    ) as counts
    from (
      select
        k.category,
        k.position,
        count(v.venue_id) as venues,
        count(*) filter (where v.state = 'operational') as operational,
        count(*) filter (where v.state = 'degraded') as degraded,
        count(*) filter (where v.state = 'outage') as outage,
        count(*) filter (where v.state = 'unknown') as unknown
      from unnest(all_categories) with ordinality as k (category, position)
      left join api.venue v on v.category = k.category and not v.has_ended
      group by k.category, k.position
    ) c
  ),
  reporting as materialized (
    select array_agg(g.region_id) as regions from api.region g where g.reporting
  ),
  ahead as (
    select coalesce(json_agg(m.body order by m.started_at, m.notice_id, m.venue_id), '[]') as maintenance
    from api.maintenance_list(null, only_category, true) m
    where m.venue_id in (select r.venue_id from rows r)
  ),
  recent as (
    select coalesce(json_agg(i.body order by i.started_at desc, i.incident_id desc), '[]') as incidents
    from api.incident i
    where (i.closed_at is null or i.closed_at > (select s.generated_at - interval '1 day' from snapshot s))
      and i.venue_id in (select venue_id from rows)
  )
  select
    s.generated_at,
    (
      select json_build_object(
        'generatedAt', api.iso(s.generated_at),
        'stale', false,
        'ageSeconds', null,
        'decidedAt', null,
        'summary', json_build_object(
          'venues', b.n,
          'regions', coalesce(cardinality(f.regions), 0),
          'vantages', p.vantages,
          'vantageNote', p.note,
          'probeIntervalMs', cadence_ms,
          'state', api.worst(b.n, b.known, b.outage, b.bad),
          'uptimePct90d', u."uptimePct",
          'measuredMinutes', u."measuredMinutes",
          'scheduledMinutes', u."scheduledMinutes",
          'coveragePct', u."coveragePct",
          'uptimePctLow', u."uptimePctLow",
          'uptimePctHigh', u."uptimePctHigh",
          'withoutMaintenance', api.without_maintenance(
            b.scheduled, b.measured, b.down, b.maintenance, b.maintenance_measured, b.maintenance_down
          ),
          'medianLatencyMs', t.p50_ms,
          'medianLatencyMinutes', coalesce(t.minutes, 0),
          'medianLatencyAsOf', api.iso(t.holds_from),
          'activeIncidents', b.active_incidents,
          'commonTrouble', api.common_trouble(only_category),
          'categories', c.counts
        ),
        'venues', b.venues,
        'incidents', r.incidents,
        'maintenanceAhead', a.maintenance
      )
      from board b
      cross join lateral api.uptime_basis(b.measured, b.down, b.scheduled) u
      cross join categories c
      cross join recent r
      cross join ahead a
      cross join reporting f
      cross join lateral api.vantages_of(f.regions) p
      left join typical t on t.venue_id is null and t.category is not distinct from only_category
    )::text as body
  from snapshot s;
end;
$$;
