-- What changed after $1, a number of api.change_event: the next $2, in the order of their numbers.
-- {change_id, at, recorded_at, venue, category, region, event, body}. The numbers fit a double.
select
  e.change_id::float8 as change_id,
  e.body ->> 'at' as at,
  e.recorded_at,
  e.venue,
  e.category,
  e.region,
  e.event,
  e.body::text as body
from api.change_event e
where e.change_id > $1::bigint
order by e.change_id
limit $2::int
