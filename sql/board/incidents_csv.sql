-- The history of incidents as a table: one row per object of incidents.sql, flattened.
--
-- $1–$7 as in incidents.sql; $8 address of the methodology page. All rows have the same window; the measured part of it
-- is that of the row's venue.
with measured as (
  select d.venue_id, count(d.measured_minutes)::int as days, coalesce(sum(d.measured_minutes), 0) as minutes
  from api.days($4::int) d
  group by d.venue_id
)
select
  api.iso(k.generated_at) as "generatedAt",
  $4::int as "windowDays",
  api.iso((k.today - $4::int + 1)::timestamp at time zone 'UTC') as "windowFrom",
  api.iso(k.generated_at) as "windowTo",
  m.days as "windowMeasuredDays",
  m.minutes as "windowMeasuredMinutes",
  $8::text as "methodologyUrl",
  i.id,
  i.slug,
  i.venue,
  i.component,
  i.kind,
  i.label,
  i.severity,
  i."peakSeverity",
  i.status,
  i."startedAt",
  i."openedAt",
  i."escalatedAt",
  i."lastBadAt",
  i."closedAt",
  i."endedAt",
  i.flapping,
  i.fault,
  i."durationSeconds",
  i.quorum,
  i.reporting,
  (select string_agg(region, ' ') from json_array_elements_text(i.regions) region) as regions,
  -- the venue's own notice beside it, if there is one
  o.id as "officialId",
  o.title as "officialTitle",
  o.url as "officialUrl",
  o."startedAt" as "officialStartedAt",
  o."resolvedAt" as "officialResolvedAt",
  o."subjectMatched",
  o.status as "officialStatus",
  o.impact as "officialImpact",
  o."postedAt" as "officialPostedAt",
  o.vanished as "officialVanished",
  o."aheadUncorrelated",
  i."officialObserved",
  i.counted,
  -- the announced maintenance beside it, if there is one
  w.title as "maintenanceTitle",
  w.url as "maintenanceUrl",
  w."from" as "maintenanceFrom",
  w.until as "maintenanceUntil",
  w."announcedAt" as "maintenanceAnnouncedAt",
  w.overran as "maintenanceOverran"
from api.clock k
cross join api.incident_page($1::text, $2::text, $3::text, $4::int, $5::int, $6::timestamptz, $7::bigint) p
-- read as one record: field by field, the text would be parsed again for each
cross join lateral json_to_record(p.body) as i (
  id bigint, slug text, venue text, component text, kind text, label text, severity text, "peakSeverity" text,
  status text,
  "startedAt" text, "openedAt" text, "escalatedAt" text, "lastBadAt" text, "closedAt" text, "endedAt" text,
  flapping boolean, fault text,
  "durationSeconds" bigint, quorum integer, reporting integer, counted integer, regions json, official json,
  "officialObserved" boolean, maintenance json
)
cross join lateral json_to_record(i.official) as o (
  id text, title text, url text, status text, impact text, "startedAt" text, "postedAt" text, "resolvedAt" text,
  vanished boolean, "subjectMatched" boolean, "aheadUncorrelated" integer
)
cross join lateral json_to_record(i.maintenance) as w (
  title text, url text, "from" text, until text, "announcedAt" text, overran boolean
)
left join measured m on m.venue_id = p.venue_id
order by p.started_at desc, p.incident_id desc
