-- A probe releases its venue leases at shutdown (hot-path/025-share-venue-leases.sql). $1 region; $2 process.
select upkeep.release_venue_leases($1, $2)
