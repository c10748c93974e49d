-- Claim what is to be sent now (020-claim-deliveries.sql explains the columns). $1 now, or null: by this
-- database's clock; $2 who claims; $3 length of the claim in milliseconds; $4 maximum number; $5 {format: milliseconds}
-- that a channel rests between two deliveries; $6 prefix of what the caller's key can decrypt.
select
  state, delivery_id, event_id, kind, channel_id, slug, reason, taken_over, attempt_id, claimed_at, format,
  service_region, destination, secret, former_secret, body, event, incident
from engine.claim_deliveries($1, $2, $3, $4, $5, $6)
