-- What `export` writes of minutes: $1 from, $2 to (exclusive), $3 venue or null, $4 to $7 the key that it goes on
-- after, or nulls.
--
-- In an order that is the same everywhere, by a key: a reader that goes on finds the next one, and none twice.
select m.*
from analytics.minutes m
where m.minute >= $1
  and m.minute < $2
  and ($3::text is null or m.venue = $3)
  and (
    $4::timestamptz is null
    or (
      m.minute, m.venue collate "C", m.component collate "C", m.region collate "C"
    ) > ($4, $5::text, $6::text, $7::text)
  )
order by m.minute, m.venue collate "C", m.component collate "C", m.region collate "C"
