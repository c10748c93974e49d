-- Maintenance in the venues' own feeds as a table: one row per object of maintenance.sql, flattened.
--
-- $1–$3 as in maintenance.sql; $4 address of the methodology page, unused.
select
  api.iso(k.generated_at) as "generatedAt",
  b.*
from api.clock k
cross join api.maintenance_list($1::text, $2::text, $3::boolean) m
cross join lateral json_to_record(m.body) as b (
  id text, venue text, "venueName" text, title text, url text, "from" text, until text, state text, status text,
  "announcedAt" text, counts boolean
)
where $4::text is not null
order by m.started_at desc, m.notice_id desc, m.venue_id
