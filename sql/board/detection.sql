-- How our incidents compare with the venues' own notices.
--
-- $1 days of the window, today included. One row {generated_at, body}.
with compared as materialized (
  select d.venue_id, d.body
  from api.detection($1::int, array(select v.venue_id from api.venue v)) d
)
select
  k.generated_at,
  json_build_object(
    'generatedAt', api.iso(k.generated_at),
    'stale', false,
    'ageSeconds', null,
    'decidedAt', null,
    'days', $1::int,
    'fleet', (select c.body from compared c where c.venue_id is null),
    'venues', coalesce(
      (
        select json_agg(
          json_build_object(
            'id', v.venue,
            'name', v.name,
            'category', v.category,
            'feed', api.feed_body(f),
            'detection', c.body
          )
          order by v.position
        )
        from api.venue v
        join api.feed f using (venue_id)
        join compared c using (venue_id)
      ),
      '[]'
    )
  )::text as body
from api.clock k
