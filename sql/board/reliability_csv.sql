-- The comparison of venues over the last days as a table: `venues` of reliability.sql, flattened, one row per venue, in
-- the same order.
--
-- $1 days of the window, today included; $2 category or null; $3 address of the methodology page.
select
  api.iso(k.generated_at) as "generatedAt",
  $1::int as "windowDays",
  api.iso((k.today - $1::int + 1)::timestamp at time zone 'UTC') as "windowFrom",
  api.iso(k.generated_at) as "windowTo",
  b."measuredDays" as "windowMeasuredDays",
  b."measuredMinutes" as "windowMeasuredMinutes",
  $3::text as "methodologyUrl",
  b.id as venue,
  b.name,
  b.category,
  b."uptimePct",
  b."scheduledMinutes",
  b."coveragePct",
  b."uptimePctLow",
  b."uptimePctHigh",
  b."downMinutes",
  b."degradedMinutes",
  (b.rest ->> 'uptimePct')::numeric as "restUptimePct",
  (b.rest ->> 'downMinutes')::bigint as "restDownMinutes",
  (b.streams ->> 'uptimePct')::numeric as "streamsUptimePct",
  (b.streams ->> 'downMinutes')::bigint as "streamsDownMinutes",
  b."typicalP50Ms",
  b."typicalP95Ms",
  b."typicalHours",
  b.incidents,
  b.outages,
  b."openIncidents",
  b."meanIncidentSeconds",
  b."longestIncidentSeconds",
  coalesce(n."maintenanceMinutes", 0) as "maintenanceMinutes",
  coalesce(n."measuredMinutes", b."measuredMinutes") as "measuredMinutesWithoutMaintenance",
  -- the same as above without maintenance
  case when n."maintenanceMinutes" > 0 then n."uptimePct" else b."uptimePct" end as "uptimePctWithoutMaintenance",
  case when n."maintenanceMinutes" > 0 then n."downMinutes" else b."downMinutes" end as "downMinutesWithoutMaintenance"
from api.clock k
cross join api.reliability(
  $1::int, array(select v.venue_id from api.venue v where not v.has_ended and ($2::text is null or v.category = $2))
) r
join api.venue v using (venue_id)
cross join lateral json_to_record(r.body) as b (
  id text, name text, category text, "measuredDays" integer, "measuredMinutes" bigint, "scheduledMinutes" bigint,
  "coveragePct" numeric,
  "uptimePct" numeric, "uptimePctLow" numeric, "uptimePctHigh" numeric, rest json, streams json, "downMinutes" bigint,
  "degradedMinutes" bigint, "typicalP50Ms" integer, "typicalP95Ms" integer, "typicalHours" bigint, incidents bigint,
  outages bigint,
  "openIncidents" bigint, "meanIncidentSeconds" bigint, "longestIncidentSeconds" bigint,
  "withoutMaintenance" json
)
cross join lateral json_to_record(coalesce(b."withoutMaintenance", '{}')) as n (
  "maintenanceMinutes" bigint, "measuredMinutes" bigint, "uptimePct" numeric, "downMinutes" bigint
)
order by (r.uptime)."uptimePct" desc nulls last, r.down_minutes, v.position
