-- What `export` writes of samples: $1 from, $2 to (exclusive), $3 venue or null, $4 to $7 the key that it goes on
-- after, or nulls. Slots are whole milliseconds, so a key that was read from a file is that of the row.
--
-- In an order that is the same everywhere, by a key: a reader that goes on finds the next one, and none twice.
select s.*
from analytics.samples s
where s.ts >= $1
  and s.ts < $2
  and ($3::text is null or s.venue = $3)
  and (
    $4::timestamptz is null
    or (s.ts, s.venue collate "C", s.component collate "C", s.region collate "C") > ($4, $5::text, $6::text, $7::text)
  )
order by s.ts, s.venue collate "C", s.component collate "C", s.region collate "C"
