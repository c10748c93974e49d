-- What `export` writes of samples: $1 from, $2 to (exclusive), $3 venue or null, $4 to $7 the key to continue after, or
-- nulls, $8 a component of the venue or null. Slots are whole milliseconds, so a key read from a file equals that of
-- the row.
--
-- Ordered by a key that is the same in every database, so that a resumed export neither misses nor repeats a row.
select s.*
from analytics.samples s
where s.ts >= $1
  and s.ts < $2
  and ($3::text is null or s.venue = $3)
  and ($8::text is null or s.component = $8)
  and (
    $4::timestamptz is null
    or (s.ts, s.venue collate "C", s.component collate "C", s.region collate "C") > ($4, $5::text, $6::text, $7::text)
  )
order by s.ts, s.venue collate "C", s.component collate "C", s.region collate "C"
