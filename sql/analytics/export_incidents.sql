-- What `export` writes of incidents: those that started from $1 (inclusive) to $2 (exclusive), $3 of a venue or null,
-- $4 and $5 the key to continue after, or nulls, $6 whether to include retracted ones. See export_samples.sql.
select i.*
from analytics.incidents i
where i.started_at >= $1
  and i.started_at < $2
  and ($3::text is null or i.venue = $3)
  and ($4::timestamptz is null or (i.started_at, i.incident_id) > ($4, $5::bigint))
  and ($6::boolean or i.retracted_at is null)
order by i.started_at, i.incident_id
