-- The lines of transfers.sql as a table, in the same order.
--
-- $1 venue or null; $2 asset or null; $3 only lines of which a direction is paused; $4 address of the methodology page.
select
  api.iso(k.generated_at) as "generatedAt",
  api.iso(greatest(w.from_day, k.generated_at - api.transfer_days() * interval '1 day')) as "windowFrom",
  $4::text as "methodologyUrl",
  r.venue,
  r.name,
  r.asset,
  r.network,
  r."networkName",
  r."venueNetwork",
  (r.withdrawal).state as "withdrawalState",
  (r.withdrawal).unstable as "withdrawalUnstable",
  (r.withdrawal).since as "withdrawalSince",
  (r.withdrawal).because as "withdrawalBecause",
  (r.withdrawal)."pauses90d" as "withdrawalPauses90d",
  (r.withdrawal)."pausedMinutes90d" as "withdrawalPausedMinutes90d",
  (r.withdrawal)."knownMinutes90d" as "withdrawalKnownMinutes90d",
  (r.withdrawal).notice ->> 'title' as "withdrawalNoticeTitle",
  (r.withdrawal).notice ->> 'url' as "withdrawalNoticeUrl",
  (r.deposit).state as "depositState",
  (r.deposit).unstable as "depositUnstable",
  (r.deposit).since as "depositSince",
  (r.deposit).because as "depositBecause",
  (r.deposit)."pauses90d" as "depositPauses90d",
  (r.deposit)."pausedMinutes90d" as "depositPausedMinutes90d",
  (r.deposit)."knownMinutes90d" as "depositKnownMinutes90d",
  (r.deposit).notice ->> 'title' as "depositNoticeTitle",
  (r.deposit).notice ->> 'url' as "depositNoticeUrl",
  r."readAt"
from api.clock k
cross join transfer_window w
cross join lateral api.transfers_of(k.generated_at, $1::text, $2::text, $3::boolean) r
