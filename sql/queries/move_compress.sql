-- Compress one chunk that is due and ends by $1; null when there is none. Upkeep chooses, as it will later on.
select upkeep.compress_next(least(now(), $1::timestamptz + upkeep.compressed_after())) as chunk
