-- Recurring incidents of a venue: all its incidents of a window, grouped by component and worst severity, with the UTC
-- hours and weekdays on which they started. Every incident is in exactly one of these patterns.
--
-- `recurring` reports patterns that keep coming back at the same time: at one hour of one weekday, at one hour of any
-- day, or on one weekday. It counts days with incidents, so that one bad afternoon counts once. With the minimums
-- below, chance alone meets them in at most one of thirty patterns, however many days a pattern has (simulated): an
-- hour of a weekday is one of 168, an hour one of 24, a weekday only one of 7. A broader one is omitted if most of its
-- days belong to a narrower one.
create function api.incident_patterns(window_days integer, of_venue smallint) returns json
language sql stable
begin atomic
  with incidents as (
    select
      i.incident_id,
      i.slug,
      i.component,
      i.peak_severity as severity,
      i.started_at,
      extract(
        epoch from case when i.closed_at is null then k.generated_at else i.last_bad_at end - i.started_at
      ) as seconds,
      (i.started_at at time zone 'UTC')::date as day,
      extract(isodow from i.started_at at time zone 'UTC')::int as weekday,
      extract(hour from i.started_at at time zone 'UTC')::int as hour
    from api.incident i
    cross join api.clock k
    where i.venue_id = of_venue and i.started_at >= ((k.today - window_days + 1)::timestamp at time zone 'UTC')
  ),
  patterns as (
    select
      i.component,
      i.severity,
      count(*) as n,
      count(distinct i.day) as days,
      round(sum(i.seconds)) as seconds,
      max(i.started_at) as newest_at,
      json_agg(
        json_build_object('slug', i.slug, 'path', '/v1/incidents/' || i.slug, 'startedAt', api.iso(i.started_at))
        order by i.started_at desc, i.incident_id desc
      ) as incidents
    from incidents i
    group by i.component, i.severity
  ),
  repeats as (
    select
      i.component,
      i.severity,
      s.place,
      s.every,
      s.weekday,
      s.hour,
      count(*) as n,
      count(distinct i.day) as days,
      p.days as of_days
    from incidents i
    join patterns p using (component, severity)
    cross join lateral (
      values
        (1, 'week', i.weekday, i.hour, 3, 0.5),
        (2, 'day', null, i.hour, 3, 0.5),
        (3, 'week', i.weekday, null, 4, 0.75)
    ) as s (place, every, weekday, hour, least_days, least_share)
    group by i.component, i.severity, s.place, s.every, s.weekday, s.hour, p.days, s.least_days, s.least_share
    having count(distinct i.day) >= greatest(s.least_days, s.least_share * p.days)
  ),
  recurring as (
    select
      r.component,
      r.severity,
      json_agg(
        json_build_object(
          'every', r.every,
          'weekday', (array['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'])[r.weekday],
          'hour', r.hour,
          'incidents', r.n,
          'days', r.days,
          'ofDays', r.of_days
        )
        order by r.place, r.days desc, r.weekday, r.hour
      ) as rows
    from repeats r
    where r.place = 1
      or not exists (
        select from repeats n
        where n.place = 1 and n.component = r.component and n.severity = r.severity
          and (n.weekday = r.weekday or n.hour = r.hour)
          and n.days * 2 > r.days
      )
    group by r.component, r.severity
  )
  select coalesce(
    json_agg(
      json_build_object(
        'component', p.component,
        'severity', p.severity,
        'count', p.n,
        'days', p.days,
        'totalSeconds', p.seconds,
        'newestAt', api.iso(p.newest_at),
        'byHour', (
          select json_agg((
            select count(*) from incidents i
            where i.component = p.component and i.severity = p.severity and i.hour = h.hour
          ) order by h.hour)
          from generate_series(0, 23) as h (hour)
        ),
        'byWeekday', (
          select json_agg((
            select count(*) from incidents i
            where i.component = p.component and i.severity = p.severity and i.weekday = w.weekday
          ) order by w.weekday)
          from generate_series(1, 7) as w (weekday)
        ),
        'recurring', coalesce(r.rows, '[]'),
        'incidents', p.incidents
      )
      order by p.n desc, p.newest_at desc, p.component, p.severity
    ),
    '[]'
  )
  from patterns p
  left join recurring r using (component, severity);
end;
