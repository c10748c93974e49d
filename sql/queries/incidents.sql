-- The history of incidents, newest first.
--
-- $1 venue, $2 category, $3 status (open, closed, all), $4 days back, $5 limit, $6 before (startedAt), $7 beforeId:
-- each null or set. One row {generated_at, body}.
select
  k.generated_at,
  (
    select json_build_object(
      'generatedAt', api.iso(k.generated_at),
      'incidents', coalesce(json_agg(p.body order by p.started_at desc, p.incident_id desc), '[]')
    )
    from (
      select i.body, i.started_at, i.incident_id
      from api.incident i
      where ($1::text is null or i.venue = $1)
        and ($2::text is null or i.category = $2)
        and ($3::text = 'all' or i.status = $3)
        and i.started_at > k.generated_at - $4::int * interval '1 day'
        and (
          $6::timestamptz is null
          or i.started_at < $6
          -- two incidents may start at one instant: the id breaks the tie
          or (i.started_at = $6 and i.incident_id < $7::bigint)
        )
      order by i.started_at desc, i.incident_id desc
      limit $5::int
    ) p
  )::text as body
from api.clock k
