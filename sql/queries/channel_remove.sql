-- Remove channel $1: its secrets are wiped, and what stands in line for it is skipped. {skipped}, how many. The row and the log stay.
--
-- What is on its way is waited for, and what is put in line at this very moment is not seen: as the channel is off as well, the
-- dispatcher ends both.
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
    and (d.claimed_until is null or d.claimed_until <= clock_timestamp())
  returning d.delivery_id
)
select count(*) as skipped from skipped
