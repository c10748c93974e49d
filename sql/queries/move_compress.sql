-- Compress one chunk that is due and ends by $1; null if there is none. Upkeep chooses, as it does later.
select upkeep.compress_next(least(now(), $1::timestamptz + upkeep.compressed_after())) as chunk
