-- Components that no region has ever seen good by their present entry, and how they fail, in the order of the registry:
-- {venue, component, faults}. What has ended is no longer expected to be good, and what was not measured does not fail.
select v.venue, c.component, array_agg(distinct s.newest_fault::text order by s.newest_fault::text) as faults
from component c
join venue v using (venue_id)
join region_state s using (component_id)
join lateral (
  select e.good_at
  from component_entry e
  where e.component_id = c.component_id
  order by e.holds_from desc
  limit 1
) present on true
where v.published and c.published
  and present.good_at is null
  and s.newest_fault is not null
  and (c.ends_at is null or c.ends_at > now())
group by v.venue, v.position, c.component, c.position
order by v.position, c.position
