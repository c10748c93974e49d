-- Remove channel $1: its secrets are wiped, and what stands in line for it is skipped. {skipped}, how many. The row and
-- the log stay.
--
-- What is on its way or may have been is not touched, nor what is put in line or claimed at this very moment: as the
-- channel is off as well, the dispatcher ends it.
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
-- A dispatcher that claims holds a delivery and asks for its channel, which this holds: neither may wait for the other.
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
