-- Lock the venue leases of a region until the transaction ends. A separate statement, because a statement that waits
-- for a lock reads the state from before the wait. $1 region
select pg_advisory_xact_lock(hashtextextended('venuewatch.watch.' || $1, 0))
