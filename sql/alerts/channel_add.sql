-- Add a channel: $1 format, $2 service region, $3 its display form, $4 description, $5 destination and $6 secret, both
-- encrypted, $7 severity floor, $8 venues, $9 categories, $10 what it does on maintenance, $11 assets of transfers.
-- {channel_id}
--
-- Run it while alert_event is locked: then every event is either completely before it, or sees the channel.
insert into channel (
  format, service_region, shown_as, description, destination, secret, severity_floor, venues, categories,
  on_maintenance, transfers, after_event_id, created_at
)
select
  $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11,
  coalesce((select max(e.event_id) from alert_event e), 0),
  clock_timestamp()
returning channel_id
