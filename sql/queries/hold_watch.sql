-- Have the shares of a region alone until the transaction ends. In a statement of its own: what waits for a lock reads
-- the state from before it.
-- $1 region
select pg_advisory_xact_lock(hashtextextended('venuewatch.watch.' || $1, 0))
