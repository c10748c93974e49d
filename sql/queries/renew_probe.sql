-- A probe's heartbeat, which also asks for the venues that it measures (hot-path/020-renew-probe.sql explains the
-- parameters).
select venues, settled from upkeep.renew_probe($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
