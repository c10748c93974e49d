-- Remove channel $1: its secrets are wiped, and what was due for it is skipped. {skipped}, how many. The row and the log stay.
--
-- It is off as well: whoever was about to queue something for it, and did so after this, finds it off when it is to be sent.
with removed as (
  update channel
  set
    removed_at = clock_timestamp(),
    off_at = coalesce(off_at, clock_timestamp()),
    off_cause = coalesce(off_cause, 'operator'),
    destination = null,
    secret = null,
    former_secret = null,
    former_until = null
  where channel_id = $1 and removed_at is null
  returning channel_id
),
skipped as (
  update delivery d
  set
    state = 'skipped',
    reason = 'the channel was removed',
    claimed_by = null,
    claimed_until = null,
    ended_at = clock_timestamp()
  from removed r
  where d.channel_id = r.channel_id and d.state = 'due'
  returning d.delivery_id
)
select count(*) as skipped from skipped
