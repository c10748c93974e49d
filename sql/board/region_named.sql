-- The region of a name, also one that no probe measures from any longer: its samples are kept for a while. $1 id; one
-- row {region}, or none if there was never one.
select g.region from region g where g.region = $1
