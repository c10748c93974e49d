-- What `export` writes of minutes: $1 from, $2 to (exclusive), $3 venue or null, $4 to $7 the key to continue after, or
-- nulls, $8 a component of the venue or null.
--
-- Ordered by a key that is the same in every database, so that a resumed export neither misses nor repeats a row.
select m.*
from analytics.minutes m
where m.minute >= $1
  and m.minute < $2
  and ($3::text is null or m.venue = $3)
  and ($8::text is null or m.component = $8)
  and (
    $4::timestamptz is null
    or (
      m.minute, m.venue collate "C", m.component collate "C", m.region collate "C"
    ) > ($4, $5::text, $6::text, $7::text)
  )
order by m.minute, m.venue collate "C", m.component collate "C", m.region collate "C"
