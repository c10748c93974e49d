-- Which deposits and withdrawals the venues declare open, by asset and network, and which venues say nothing that can
-- be read. One row {generated_at, body}, or none if the database does not have the venue.
--
-- $1 venue or null; $2 asset or null; $3 only lines of which a direction is paused; $4 how many of the venue's newest
-- pauses are listed; 0: none.
select b.generated_at, b.body from api.transfers_body($1::text, $2::text, $3::boolean, $4::int) b
