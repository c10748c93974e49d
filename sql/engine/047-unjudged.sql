-- Chapter 5 of docs/rulebook.md: which samples say nothing about the venue.

-- Notes which components a region has seen good by their present entry. The whole window must be of that entry.
create function engine.keep_good_entries(at timestamptz, r engine.rules) returns void
language plpgsql
as $$
begin
  -- each was good once: the usual case
  if not exists (select from component_entry e where e.good_at is null) then
    return;
  end if;
  update component_entry e
  set good_at = at
  from component c
  where c.component_id = e.component_id and e.good_at is null
    and e.holds_from <= at - engine.judged_span(c.cadence_ms, r)
    and not exists (
      select from component_entry n
      where n.component_id = e.component_id and n.holds_from > e.holds_from and n.holds_from <= at
    )
    and exists (select from region_state s where s.component_id = e.component_id and s.samples > s.bad);
end;
$$;

-- Why nothing is concluded from a component's samples at an instant, whatever they are: its entry has ended, or no
-- region has seen it good by its present entry, so that a wrong entry would look like a venue that is down.
create function engine.unproven(at timestamptz) returns table (component_id integer, reason text)
language sql stable
as $$
  select
    c.component_id,
    case when c.ends_at <= at then 'ended' else 'never' end
  from component c
  left join lateral (
    select (e.good_at <= at) is true as good
    from component_entry e
    where e.component_id = c.component_id and e.holds_from <= at
    order by e.holds_from desc
    limit 1
  ) e on true
  where c.published and (c.ends_at <= at or not e.good)
$$;

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
  -- older rules have no such number
  where p.vantages < coalesce(r.blocked_min_vantages, 1)
$$;
