-- Release a claimed list that was not read, so that another core can read it. $1 venue; $2 end of the claim.
update transfer_source
set due_at = now(), unended_readings = 0
where venue_id = $1::smallint and due_at = $2::timestamptz
