-- Remove channel $1: erase its secrets, and skip its queued deliveries. {skipped}, their number. The row and the log
-- stay.
--
-- Deliveries that are or may have been sent are not touched, nor those that are queued or claimed at this moment:
-- because the channel is also switched off, the dispatcher ends them.
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
-- a claiming dispatcher locks a delivery and then its channel, which this statement has locked: waiting would deadlock
free as (
  select d.delivery_id
  from removed r
  join delivery d using (channel_id)
  where d.state = 'due' and d.claimed_by is null
  for update of d skip locked
),
skipped as (
  update delivery d
  set
    state = 'skipped',
    reason = 'the channel was removed',
    claimed_by = null,
    claimed_until = null,
    ended_at = clock_timestamp()
  from free f
  where d.delivery_id = f.delivery_id
  returning d.delivery_id
)
select count(*) as skipped from skipped
