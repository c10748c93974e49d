-- The feed of incidents, the newest event first: also that of an old incident, which would otherwise close unseen.
--
-- $1 venue, or null for all; $2 most entries. One row {generated_at, body}, or none if the venue is not published. The
-- body has no generatedAt: it changes only with its entries.
with chosen as (
  select v.venue_id, v.venue, v.name from venue v where v.venue = $1::text and v.published
),
newest as (
  select e.incident_id, e.updated_at
  from api.feed_entry e
  where ($1::text is null or e.venue_id = (select c.venue_id from chosen c))
    -- for the index; an incident that lasts for more than a year ends unseen
    and e.started_at >= (select k.generated_at - interval '366 days' from api.clock k)
  order by e.updated_at desc, e.incident_id desc
  limit $2::int
)
select
  k.generated_at,
  json_build_object(
    'id', api.feed_uuid(coalesce('incidents of ' || c.venue_id, 'incidents')),
    'venue', case when c.venue_id is not null then json_build_object('id', c.venue, 'name', c.name) end,
    'updatedAt', api.iso(coalesce((select max(n.updated_at) from newest n), f.made_at)),
    'entries', (
      select coalesce(json_agg(e.body order by n.updated_at desc, n.incident_id desc), '[]')
      from newest n
      join api.feed_entry e using (incident_id)
    )
  )::text as body
from api.clock k
cross join feed_identity f
left join chosen c on true
where $1::text is null or c.venue_id is not null
