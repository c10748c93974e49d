-- Chapter 4 of docs/rulebook.md: refusals that are about the place that asks.

-- Regions that a venue refuses (403, 451) from too few vantages to blame it: a refusal is usually about the place that
-- asks. Like outliers, they have no vote, but they are witnesses that the component is measured.
create function engine.lone_refusals(at timestamptz, r engine.rules)
returns table (component_id integer, region_id smallint)
language sql stable
as $$
  with refused as (
    select s.component_id, s.region_id, v.vantage
    from region_state s
    join engine.vantages(at) v using (region_id)
    where s.refused and s.reporting and engine.is_bad(s.state)
      and s.region_id <> all (array(select engine.impaired_regions(at, at)))
  ),
  places as (
    select f.component_id, count(distinct f.vantage) as vantages
    from refused f
    group by f.component_id
  )
  select f.component_id, f.region_id
  from refused f
  join places p using (component_id)
  where p.vantages < r.blocked_min_vantages
$$;
