-- All is here: hand the office over, as one that leads does when it ends.
with over as (
  update leader set expires_at = '-infinity' where holder = 'venuewatch move'
)
update moving.state set finished_at = now()
