-- A probe says that it is alive, and asks for what it measures (kept-plans/020-keep-probe.sql, which explains the
-- parameters).
select venues, settled from upkeep.keep_probe($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
