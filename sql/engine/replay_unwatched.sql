-- Number of incidents within the period from $1 to $2 of components that are no longer watched. $3 a venue or null.
select count(*) as incidents
from incident i
join component c using (component_id)
join venue v using (venue_id)
where not (c.published and v.published)
  and ($3::text is null or v.venue = $3)
  and i.opened_at <= $2
  and coalesce(least(i.closed_at, i.retracted_at), 'infinity') >= $1
