-- Release a claimed feed that was not read, so that another core can read it. $1 source; $2 end of the claim.
update feed
set due_at = now(), unended_readings = 0
where feed_id = $1::integer and due_at = $2::timestamptz
