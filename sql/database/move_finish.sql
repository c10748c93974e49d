-- Everything is moved: release the lease, as a leader does at shutdown.
with over as (
  update leader set expires_at = '-infinity' where holder = 'venuewatch move'
)
update moving.state set finished_at = now()
