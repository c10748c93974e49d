-- Chapter 5 of docs/rulebook.md: the common verdict of the regions.
--
-- The quorum is a simple majority of the regions that report the component now and are neither impaired, outliers nor
-- refused from too few places, not of the configured ones: a region without samples has no vote, either way. A
-- majority, never a half: with two of four regions bad and two good, nothing is confirmed. And never one region alone
-- if others are published: its route may be broken, and the others silent.

create function engine.quorum(counted bigint, published bigint, min_regions integer) returns integer
language sql immutable parallel safe
return greatest(counted / 2 + 1, least(min_regions, published))::int;

-- The state of a component by the votes of the counted regions, and by how many see it bad whose votes are not counted:
-- outliers and refused ones.
create function engine.by_quorum(quorum bigint, outage bigint, bad bigint, operational bigint, uncounted bigint)
returns state
language sql immutable parallel safe
return case
  when outage >= quorum then 'outage'
  when bad >= quorum then 'degraded'
  -- Health needs witnesses too: as many regions must have a verdict as a fault would need to be confirmed. Verdicts of
  -- outliers and refused regions count here: with two regions, one of them blocked by a venue, the state would
  -- otherwise be unknown.
  when operational + bad + uncounted < quorum then 'unknown'
  when operational = 0 then 'unknown'
  else 'operational'
end::state;

-- One row per published component.
create function engine.component_votes(at timestamptz, r engine.rules)
returns table (
  component_id integer,
  reporting    smallint,
  quorum       smallint,
  state        state,
  -- why it is unknown although it is measured; null: for no such reason
  unjudged     text
)
language sql stable
as $$
  with votes as (
    select
      c.component_id,
      count(s.state) filter (where not s.uncounted) as counted,
      -- here, so that it is computed once, not per comparison
      engine.quorum(
        count(s.state) filter (where not s.uncounted),
        (select count(*) from region g where g.published),
        r.quorum_min_regions
      ) as quorum,
      count(*) filter (where s.state = 'outage' and not s.uncounted) as outage,
      count(*) filter (where engine.is_bad(s.state) and not s.uncounted) as bad,
      count(*) filter (where s.state = 'operational') as operational,
      count(*) filter (where engine.is_bad(s.state) and s.uncounted) as uncounted,
      count(*) filter (where s.refused_alone) as refused
    from component c
    join venue v using (venue_id)
    left join (
      select
        k.*,
        l.region_id is not null as refused_alone,
        l.region_id is not null
          or (k.component_id, k.region_id) in (select o.component_id, o.region_id from engine.outliers(at) o)
          as uncounted
      from region_state k
      left join engine.lone_refusals(at, r) l using (component_id, region_id)
      where k.reporting
        and k.region_id <> all (array(select engine.impaired_regions(at, at)))
    ) s using (component_id)
    where c.published and v.published
    group by c.component_id
  )
  select
    v.component_id,
    v.counted::smallint,
    v.quorum::smallint,
    case when u.reason is null then q.state else 'unknown' end,
    coalesce(
      u.reason,
      case when q.state = 'unknown' and v.operational = 0 and v.refused > v.bad then 'blocked' end
    )
  from votes v
  cross join lateral (
    select engine.by_quorum(v.quorum, v.outage, v.bad, v.operational, v.uncounted) as state
  ) q
  left join engine.unproven(at) u using (component_id)
$$;

create function engine.store_component_states(at timestamptz, r engine.rules) returns void
language plpgsql
as $$
begin
  with votes as materialized (
    select * from engine.component_votes(at, r)
  ),
  changed as (
    update component_state k
    set state = v.state,
        since = case when k.state = v.state then k.since else at end,
        not_bad_since = case when engine.is_bad(v.state) then null else coalesce(k.not_bad_since, at) end,
        reporting = v.reporting,
        quorum = v.quorum
    from votes v
    where k.component_id = v.component_id
      and (k.state, k.reporting, k.quorum) is distinct from (v.state, v.reporting, v.quorum)
  ),
  added as (
    insert into component_state (component_id, state, since, not_bad_since, reporting, quorum)
    select v.component_id, v.state, at, case when not engine.is_bad(v.state) then at end, v.reporting, v.quorum
    from votes v
    where not exists (select from component_state k where k.component_id = v.component_id)
  ),
  judged_again as (
    update unjudged u
    set ended_at = at
    from votes v
    where u.component_id = v.component_id and u.ended_at is null and u.reason is distinct from v.unjudged
  )
  insert into unjudged (component_id, started_at, reason)
  select v.component_id, engine.unjudged_from(v.component_id, v.unjudged, at), v.unjudged
  from votes v
  where v.unjudged is not null
    and not exists (
      select from unjudged u where u.component_id = v.component_id and u.ended_at is null and u.reason = v.unjudged
    );
end;
$$;

-- The state of each component by quorum, or as one region by itself sees it.
create function engine.component_states(of_region smallint) returns table (component_id integer, state state)
language sql stable
as $$
  select s.component_id, s.state from component_state s where of_region is null
  union all
  select s.component_id, s.sees from region_state s where s.region_id = of_region
$$;

-- The state of each venue by its components that have not ended. At least half of them must be known: after a gap, a
-- single one would speak for ten. An outage is a share of all of them, so that while they come back one after the other
-- the state can only get worse, until it is what it was. REST and streams (including the socket) are judged separately:
-- a client of one gets nothing from the other.
create function engine.venue_verdicts(at timestamptz, of_region smallint default null)
returns table (venue_id smallint, state state)
language sql stable
as $$
  with kinds as (
    select
      v.venue_id,
      count(c.component_id) as components,
      count(*) filter (where s.state <> 'unknown') as known,
      count(*) filter (where s.state = 'outage') as outage,
      count(*) filter (where engine.is_bad(s.state)) as bad
    from venue v
    left join component c on c.venue_id = v.venue_id and c.published and (c.ends_at <= at) is not true
    left join engine.component_states(of_region) s using (component_id)
    where v.published
    group by v.venue_id, c.kind
  )
  select
    k.venue_id,
    case
      when sum(k.known) = 0 or sum(k.known) * 2 < sum(k.components) then 'unknown'
      when bool_or(k.outage > 0 and k.outage * 2 >= k.components) then 'outage'
      when sum(k.bad) > 0 then 'degraded'
      else 'operational'
    end::state
  from kinds k
  group by k.venue_id
$$;

create function engine.store_venue_states(at timestamptz) returns void
language plpgsql
as $$
begin
  insert into venue_state as kept (venue_id, state, since)
  select v.venue_id, v.state, at
  from engine.venue_verdicts(at) v
  on conflict (venue_id) do update set state = excluded.state, since = excluded.since
  where kept.state <> excluded.state;
end;
$$;
