-- Chapters 4 and 5 of docs/rulebook.md: which samples say nothing about the venue. Chapter 4 asks first.

-- The entries that hold at an instant.
create function engine.present_entries(at timestamptz) returns setof component_entry
language sql stable
as $$
  select e.*
  from component_entry e
  where e.holds_from <= at
    and not exists (
      select from component_entry n
      where n.component_id = e.component_id and n.holds_from > e.holds_from and n.holds_from <= at
    )
$$;

-- Notes which components a region has seen good by their present entry. The whole window must be of that entry. Old
-- data show that it is right, too: the answer met its proof, or the frames their subscription, and their time can be
-- true.
create function engine.store_good_entries(at timestamptz, r engine.rules) returns void
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
    and (e.component_id, e.holds_from) in (select n.component_id, n.holds_from from engine.present_entries(at) n)
    and exists (
      select from region_state s
      where s.component_id = e.component_id
        and (s.samples > s.bad or s.samples > 0 and s.newest_fault = 'stale')
    );
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
  where c.published
    and (
      c.ends_at <= at
      or c.component_id in (
        select e.component_id
        from engine.present_entries(at) e
        where e.good_at is null or e.good_at > at
      )
    )
$$;

-- What the regions see of all other components.
create function engine.proven_states(at timestamptz) returns setof region_state
language sql stable
as $$
  select s.*
  from region_state s
  where s.component_id not in (select u.component_id from engine.unproven(at) u)
$$;

-- How many components of each venue these are.
create function engine.proven_sizes(at timestamptz) returns table (venue_id smallint, components bigint)
language sql stable
as $$
  select c.venue_id, count(*)
  from component c
  join venue v using (venue_id)
  left join engine.unproven(at) u using (component_id)
  where c.published and v.published and u.component_id is null
  group by c.venue_id
$$;

-- Since when a component has not been judged, as found at an instant. An entry is unproven since it is watched, or has
-- changed, which may be earlier: at the first tick, or after a pause of the engine. Never before another such time of
-- the component.
create function engine.unjudged_from(of_component integer, reason text, at timestamptz) returns timestamptz
language sql stable
as $$
  select case
    when reason = 'never' then (
      select least(
        at,
        greatest(
          c.watched_from,
          (select e.holds_from from engine.present_entries(at) e where e.component_id = of_component),
          (select max(coalesce(u.ended_at, at)) from unjudged u where u.component_id = of_component)
        )
      )
      from component c
      where c.component_id = of_component
    )
    else at
  end
$$;
