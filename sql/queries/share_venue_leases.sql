-- Bring the venue leases of a probe to its share (hot-path/025-share-venue-leases.sql). $1 region; $2 process; $3 ids
-- of the venues in its registry; $4 whether it may take the leases of dead probes.
select venues from upkeep.share_venue_leases($1, $2, $3, $4)
