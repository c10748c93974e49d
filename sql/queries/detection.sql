-- How do our incidents compare with the venues' own notices?
--
-- $1 days of the window, today included. One row {generated_at, body}.
with counted as materialized (
  select i.venue_id, i.incidents
  from api.incident_counts($1::int, array(select v.venue_id from api.venue v)) i
)
select
  k.generated_at,
  json_build_object(
    'generatedAt', api.iso(k.generated_at),
    'days', $1::int,
    -- a count adds up; a median would not, so this row never has one
    'fleet', api.detection(coalesce((select c.incidents from counted c where c.venue_id is null), 0), $1::int),
    'venues', coalesce(
      (
        select json_agg(
          json_build_object(
            'id', v.venue,
            'name', v.name,
            'category', v.category,
            'detection', api.detection(coalesce(c.incidents, 0), $1::int)
          )
          order by v.position
        )
        from api.venue v
        left join counted c using (venue_id)
      ),
      '[]'
    )
  )::text as body
from api.clock k
