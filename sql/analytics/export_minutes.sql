-- What `export` writes of minutes: $1 from, $2 to (exclusive), $3 venue, $4 component of it, $5 and $6 the key to
-- continue after, or nulls. See export_samples.sql.
select m.*
from analytics.minutes m
where m.minute >= $1
  and m.minute < $2
  and m.venue = $3
  and m.component = $4
  and ($5::timestamptz is null or (m.minute, m.region collate "C") > ($5, $6::text))
order by m.minute, m.region collate "C"
