-- Chapter 4 of docs/rulebook.md: which regions are outliers for a component.
--
-- A region that a venue blocks permanently would make a quorum with any other region that has a bad minute. So it has
-- no vote on that component until it sees it well, or until others have seen it bad for as long.

-- The outliers at an instant. One that ends at this instant already votes.
create function engine.outliers(at timestamptz) returns table (component_id integer, region_id smallint)
language sql stable
as $$
  select o.component_id, o.region_id
  from outlier o
  where o.started_at <= at and coalesce(o.ended_at, 'infinity') > at
$$;

-- Runs before the quorum of an instant, so it sees component states and incidents of the instant before.
create function engine.store_outliers(at timestamptz, r engine.rules) returns void
language plpgsql
as $$
begin
  -- no region has been bad for long, and there is no outlier: the usual case
  if not exists (select from region_state s where s.bad_since <= at - engine.ms(r.outlier_after_ms))
    and not exists (select from outlier o where o.ended_at is null)
  then
    return;
  end if;

  with seen as materialized (
    select
      s.component_id,
      s.region_id,
      s.state,
      s.bad_since,
      count(*) filter (where s.bad_since <= at - engine.ms(r.outlier_after_ms)) over of_component as lasting,
      engine.quorum(count(*) over of_component, published.regions, r.quorum_min_regions) as quorum
    from region_state s
    cross join (select count(*) as regions from region g where g.published) published
    where s.component_id in (
        select b.component_id from region_state b where b.bad_since <= at - engine.ms(r.outlier_after_ms)
        union
        select o.component_id from outlier o where o.ended_at is null
      )
      and s.reporting
      and s.region_id <> all (array(select engine.impaired_regions(at, at)))
    window of_component as (partition by s.component_id)
  ),
  ended as (
    update outlier o
    set ended_at = at
    where o.ended_at is null
      and (
        exists (
          select from seen s
          where s.component_id = o.component_id
            and (s.lasting >= s.quorum or s.region_id = o.region_id and s.state = 'operational')
        )
        or not exists (
          select from component c
          join venue v using (venue_id)
          cross join region g
          where c.component_id = o.component_id and g.region_id = o.region_id
            and c.published and v.published and g.published
        )
      )
  )
  insert into outlier (component_id, region_id, started_at)
  select s.component_id, s.region_id, at
  from seen s
  left join component_state c using (component_id)
  where s.bad_since <= at - engine.ms(r.outlier_after_ms)
    and s.lasting < s.quorum
    and engine.is_bad(c.state) is not true
    and not exists (
      select from outlier o where o.component_id = s.component_id and o.region_id = s.region_id and o.ended_at is null
    )
    and not exists (select from engine.open_incidents_of(array[s.component_id]));
end;
$$;
