-- The days of the ninety-day bars, and the uptime of each.

-- The UTC days of each venue. Every venue has every day of the window, with as many scheduled minutes as are over and
-- published. On a day without measurements the other columns are null, not zero; so are those of announced maintenance
-- on a day without it. `venue_ids` null: all venues.
create function api.days(window_days integer, venue_ids smallint[] default null)
returns table (
  venue_id smallint,
  day date,
  scheduled_minutes integer,
  measured_minutes integer,
  down_minutes integer,
  degraded_minutes integer,
  rest_minutes integer,
  rest_down_minutes integer,
  stream_minutes integer,
  stream_down_minutes integer,
  maintenance_minutes integer,
  maintenance_measured_minutes integer,
  maintenance_down_minutes integer,
  incidents integer
)
language sql stable
begin atomic
  select
    v.venue_id,
    c.day,
    -- a measured minute was scheduled, whatever the registry's dates say
    greatest(
      api.scheduled_minutes(v.watched_from, v.unwatched, c.from_at, c.to_at),
      coalesce(m.measured_minutes, 0)
    ),
    m.measured_minutes, m.down_minutes, m.degraded_minutes,
    m.rest_minutes, m.rest_down_minutes, m.stream_minutes, m.stream_down_minutes,
    a.minutes, a.measured_minutes, a.down_minutes,
    coalesce(n.incidents, 0)
  from (
    select d.day, d.from_at, least(d.from_at + interval '24 hours', k.published_to) as to_at
    from api.clock k
    cross join lateral (
      select k.today - back as day, (k.today - back)::timestamp at time zone 'UTC' as from_at
      from generate_series(0, window_days - 1) back
    ) d
    -- Plain values, because scheduled_minutes is inlined only with these: 1,350 calls took a fifth of the board's time
    -- (22 ms, then 18).
    offset 0
  ) c
  cross join venue v
  left join (
    select *
    from api.venue_day d
    where d.day >= (select (k.today - window_days + 1)::timestamp at time zone 'UTC' from api.clock k)
      and (venue_ids is null or d.venue_id = any (venue_ids))
  ) m on m.venue_id = v.venue_id and m.day = c.from_at
  left join api.maintenance_day a on a.venue_id = v.venue_id and a.day = c.from_at and a.component_id is null
  left join (
    -- Minutes know failed samples only: a day on which a component was slow for hours has no degraded minute. An
    -- incident ends with its last bad sample.
    select c.venue_id, d.from_at, count(*)::int as incidents
    from incident i
    join component c using (component_id)
    cross join api.clock k
    cross join lateral generate_series(
      date_trunc('day', i.started_at, 'UTC'),
      case when i.closed_at is null then k.generated_at else i.last_bad_at end,
      interval '1 day'
    ) as d (from_at)
    where c.published
      and i.retracted_at is null
      and (i.closed_at is null or i.closed_at >= (k.today - window_days + 1)::timestamp at time zone 'UTC')
      and (venue_ids is null or c.venue_id = any (venue_ids))
    group by c.venue_id, d.from_at
  ) n on n.venue_id = v.venue_id and n.from_at = c.from_at
  where v.published and (venue_ids is null or v.venue_id = any (venue_ids))
  -- An optimisation fence, because callers use each value several times: without this line each use computes it again,
  -- and none of its functions is inlined.
  offset 0;
end;

-- The UptimeDay object, the same wherever it appears. A row type, which becomes JSON in half the time of
-- json_build_object; the board has 1,350.
create type api.uptime as (
  "date"             date,
  "uptimePct"        numeric,
  "measuredMinutes"  integer,
  "scheduledMinutes" integer,
  "coveragePct"      numeric,
  "uptimePctLow"     numeric,
  "uptimePctHigh"    numeric,
  "downMinutes"      integer,
  "degradedMinutes"  integer,
  "withoutMaintenance" json,
  "incidents"        integer
);

create function api.uptime_day(
  day date, scheduled integer, measured integer, down integer, degraded integer, incidents integer,
  of_scheduled integer, of_measured integer, of_down integer
)
returns api.uptime
language sql stable parallel safe
return row(
  day,
  api.uptime_pct(measured, down, scheduled),
  coalesce(measured, 0),
  scheduled,
  api.pct_down(coalesce(measured, 0), scheduled),
  api.uptime_low(measured, down, scheduled),
  api.uptime_high(measured, down, scheduled),
  down,
  degraded,
  -- the usual day has none
  case
    when of_scheduled > 0
      then api.without_maintenance(scheduled, measured, down, of_scheduled, of_measured, of_down)
  end,
  incidents
)::api.uptime;
