-- A point of a sparkline: a row, as api.uptime is.
create type api.sparkline_point as ("at" text, "p50Ms" integer);

-- The live board: every published venue with its ninety days, its last day of latency, and the fleet as a whole. One row.
--
-- plpgsql, for its plan is kept, as long as a connection lasts: it reads so much that planning it took a quarter of the time. One plan for all
-- categories: with the values of each call at hand it would be no better, and made anew.
create function api.board(only_category text, all_categories text[], cadence_ms integer)
returns table (generated_at timestamptz, body text)
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
begin
  return query
  with snapshot as materialized (
    select k.generated_at from api.clock k
  ),
  rows as materialized (
    select v.* from api.venue v where only_category is null or v.category = only_category
  ),
  open_incidents as materialized (
    select i.venue_id, i.category, count(*)::int as n
    from api.incident i
    where i.closed_at is null
    group by i.venue_id, i.category
  ),
  bars as (
    select
      d.venue_id,
      count(d.measured_minutes)::int as measured_days,
      sum(d.measured_minutes) as measured,
      sum(d.down_minutes) as down,
      json_agg(
        api.uptime_day(d.day, d.measured_minutes, d.down_minutes, d.degraded_minutes)
        order by d.day
      ) as days
    from api.days(90) d
    group by d.venue_id
  ),
  -- its name is written once, and not for each venue: 340 times more took a fifth of the board's time on the embedded database
  hours as materialized (
    select h.hour, api.iso(h.hour) as at
    from snapshot s, generate_series(
      date_trunc('hour', s.generated_at) - interval '23 hours', date_trunc('hour', s.generated_at), interval '1 hour'
    ) as h (hour)
  ),
  -- all at once: where they are compressed, each hour by itself would unpack ten days of every series
  latency_hours as (
    select c.venue_id, m.hour, percentile_cont(0.5) within group (order by m.p50_us) as p50_us
    from sample_hour m
    join api.component c using (component_id)
    where c.kind = 'rest'
      -- hours of streams, and those without a good answer
      and m.p50_us is not null
      -- `is true`, for a range of which nothing is known is taken for a narrow one, and a venue looked up for each row
      and m.hour >= (select min(h.hour) from hours h) and (m.hour <= (select max(h.hour) from hours h)) is true
      -- for the planner, which leaves out chunks by now() alone
      and m.hour > now() - interval '2 days'
    group by c.venue_id, m.hour
  ),
  sparklines as (
    select
      r.venue_id,
      json_agg(row(h.at, api.whole_ms(l.p50_us))::api.sparkline_point order by h.hour) as points
    from rows r
    cross join hours h
    left join latency_hours l using (venue_id, hour)
    group by r.venue_id
  ),
  typical as materialized (
    select t.* from api.typical t
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
            'state', r.state,
            'since', api.iso(r.since),
            'uptimePct90d', api.uptime_pct(b.measured::bigint, b.down::bigint),
            'measuredDays', b.measured_days,
            'typicalMs', t.p50_ms,
            'activeIncidents', coalesce(i.n, 0),
            'days', b.days,
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
      sum(b.measured)::bigint as measured,
      sum(b.down)::bigint as down,
      coalesce(sum(i.n), 0) as active_incidents
    from rows r
    left join bars b using (venue_id)
    left join sparklines s using (venue_id)
    left join typical t using (venue_id)
    left join open_incidents i using (venue_id)
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
      left join api.venue v using (category)
      group by k.category, k.position
    ) c
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
        'summary', json_build_object(
          'venues', b.n,
          'regions', (select count(*) from api.region g where g.reporting),
          'probeIntervalMs', cadence_ms,
          'state', api.worst(b.n, b.known, b.outage, b.bad),
          'uptimePct90d', api.uptime_pct(b.measured, b.down),
          'medianLatencyMs', (select t.p50_ms from typical t where t.venue_id is null and t.category is not distinct from only_category),
          'activeIncidents', b.active_incidents,
          'categories', c.counts
        ),
        'venues', b.venues,
        'incidents', r.incidents
      )
      from board b, categories c, recent r
    )::text as body
  from snapshot s;
end;
$$;
