-- Which regions have no vote at present because they are impaired, and since when. As at the newest tick: a region
-- still has no vote at the instant at which its own impairment ends.
create view api.impaired_region as
select i.region_id, min(i.started_at) as since
from impairment i
cross join api.clock k
where i.started_at <= k.ticked_at and i.recognised_at <= k.ticked_at
  and (i.ended_at is null or i.ended_at > k.ticked_at or i.ended_at = k.ticked_at and not i.seen_elsewhere)
group by i.region_id;

-- How each region sees each published component now, and why its vote is not counted. `not_counted`: engine (it decides
-- nothing at present), impaired, outlier, refused (the venue blocks it, and no second vantage), never (no sample is
-- known), late (the newest is too old), or null.

create view api.region_vote as
select
  r.component_id,
  r.venue_id,
  r.region_id,
  g.region,
  g.position,
  r.state,
  r.reporting,
  r.newest_at,
  r.newest_fault,
  case
    when not k.engine_fresh then 'engine'
    when exists (select from api.impaired_region i where i.region_id = r.region_id) then 'impaired'
    when r.newest_at is null then 'never'
    when not r.reporting then 'late'
    when l.region_id is not null then 'refused'
    when exists (
      select
      from outlier o
      where o.component_id = r.component_id and o.region_id = r.region_id and o.started_at <= k.ticked_at
        and coalesce(o.ended_at, 'infinity') > k.ticked_at
    ) then 'outlier'
  end as not_counted
from api.region_state r
join region g using (region_id)
cross join api.clock k
left join (
  select l.*
  from api.clock k
  cross join lateral engine.lone_refusals(k.ticked_at, engine.rules_at(k.ticked_at)) l
) l on l.component_id = r.component_id and l.region_id = r.region_id;

-- Whether a region that sees a component so agrees with the state that all regions together see: who sees an outage
-- also confirms that it is at least degraded, as in engine.by_quorum.
create function api.agrees(seen state, confirmed state) returns boolean
language sql immutable parallel safe
return seen = confirmed or confirmed = 'degraded' and seen = 'outage';
