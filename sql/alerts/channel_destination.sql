-- What is needed to send to channel $1, encrypted: {format, service_region, destination, secret, former_secret}. No row
-- for a removed channel. A former secret is included as long as it signs.
select
  c.format,
  c.service_region,
  c.destination,
  c.secret,
  case when c.former_until > clock_timestamp() then c.former_secret end as former_secret
from channel c
where c.channel_id = $1 and c.removed_at is null
