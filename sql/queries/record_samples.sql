-- Store a batch of samples from one region (hot-path/010-record-samples.sql). $1 region; $2 the samples, whose keys
-- are named after the columns.
select timeline, knows_region, unknown, accepted, stored from upkeep.record_samples($1, $2)
