-- What `export` writes of samples: $1 from, $2 to (exclusive), $3 venue, $4 component of it, $5 and $6 the key to
-- continue after, or nulls.
--
-- Names are ordered byte by byte, as readers of the files compare them, in every database.
select s.*
from analytics.samples s
where s.ts >= $1
  and s.ts < $2
  and s.venue = $3
  and s.component = $4
  and ($5::timestamptz is null or (s.ts, s.region collate "C") > ($5, $6::text))
order by s.ts, s.region collate "C"
