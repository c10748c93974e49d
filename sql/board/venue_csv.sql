-- Ninety days of one venue as a table: `days` of api.venue_page, flattened, one row per day, oldest first.
--
-- $1 venue, $2 address of the methodology page. No row if the venue is not published.
with days as (
  select d.*
  from venue v
  cross join lateral api.days(90, array[v.venue_id]) d
  where v.venue = $1 and v.published
),
measured as (
  select count(d.measured_minutes)::int as days, coalesce(sum(d.measured_minutes), 0) as minutes
  from days d
)
select
  api.iso(k.generated_at) as "generatedAt",
  90 as "windowDays",
  api.iso((k.today - 89)::timestamp at time zone 'UTC') as "windowFrom",
  api.iso(k.generated_at) as "windowTo",
  m.days as "windowMeasuredDays",
  m.minutes as "windowMeasuredMinutes",
  $2::text as "methodologyUrl",
  $1::text as venue,
  u.date::text,
  u."uptimePct",
  u."measuredMinutes",
  u."scheduledMinutes",
  u."coveragePct",
  u."uptimePctLow",
  u."uptimePctHigh",
  u."downMinutes",
  u."degradedMinutes",
  coalesce(d.maintenance_minutes, 0) as "maintenanceMinutes",
  u."measuredMinutes" - coalesce(d.maintenance_measured_minutes, 0) as "measuredMinutesWithoutMaintenance",
  -- the same as above on a day without maintenance
  case when d.maintenance_minutes > 0 then (u."withoutMaintenance" ->> 'uptimePct')::numeric else u."uptimePct" end
    as "uptimePctWithoutMaintenance",
  case when d.maintenance_minutes > 0 then (u."withoutMaintenance" ->> 'downMinutes')::bigint else u."downMinutes" end
    as "downMinutesWithoutMaintenance",
  u."incidents"
from api.clock k
cross join measured m
cross join days d
cross join lateral api.uptime_day(
  d.day, d.scheduled_minutes, d.measured_minutes, d.down_minutes, d.degraded_minutes, d.incidents,
  d.maintenance_minutes, d.maintenance_measured_minutes, d.maintenance_down_minutes
) as u
order by d.day
