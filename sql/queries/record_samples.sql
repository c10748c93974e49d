-- Store a batch of samples from one region (kept-plans/010-record-samples.sql). $1 region; then one array per column of
-- sample.
select timeline, knows_region, unknown, accepted, stored
from upkeep.record_samples(
  $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23
)
