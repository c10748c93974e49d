-- Chapter 4 of docs/rulebook.md: which regions are impaired.

-- The regions that were impaired at an instant, by what was recorded at `known_at`: at the instant itself, those
-- recognised by then; in hindsight, also those recognised a little later. At the instant at which its impairment ends,
-- a region still sees its effects, so it votes from the next one on; unless others saw the same.
create function engine.impaired_regions(at timestamptz, known_at timestamptz) returns setof smallint
language sql stable
as $$
  -- in hindsight two of a region may overlap: the second starts before it is recognised
  select distinct i.region_id
  from impairment i
  where i.recognised_at <= known_at
    and i.started_at <= at
    and (i.ended_at is null or i.ended_at > at or i.ended_at = at and not i.seen_elsewhere)
$$;

-- The regions whose votes at an instant are not counted in hindsight.
create function engine.impaired_regions_in_hindsight(at timestamptz, known_at timestamptz, r engine.rules)
returns setof smallint
language sql stable
as $$
  select distinct i.region_id
  from impairment i
  where i.recognised_at <= known_at
    and i.started_at <= at
    and coalesce(i.ended_at, 'infinity') >= at
    and engine.is_own_trouble(i.recognised_at, i.ended_at, i.seen_elsewhere, at, known_at, r)
$$;

-- The vantage of each published region. Regions whose probes all run on one machine are one vantage, identified by the
-- first of them.
create function engine.vantages(at timestamptz)
returns table (region_id smallint, vantage smallint, regions smallint, machine text)
language sql stable
as $$
  select
    m.region_id,
    (min(m.region_id) over same)::smallint,
    (count(*) over same)::smallint,
    m.machine
  from (
    select g.region_id, h.machine
    from region g
    left join lateral (
      select v.machine
      from region_vantage v
      where v.region_id = g.region_id and v.holds_from <= at
      order by v.holds_from desc
      limit 1
    ) h on true
    where g.published
  ) m
  -- an unknown machine is not shared
  window same as (partition by coalesce(m.machine, 'region ' || m.region_id))
$$;

-- What each region sees bad, or did until a moment ago. The last region to see the end of a common outage is as alone
-- with it as one whose network starts to fail. A region that has fallen silent keeps what it saw. What a region's own
-- impairment caused does not count as seen.
create function engine.lately_bad(at timestamptz, r engine.rules)
returns table (region_id smallint, component_id integer)
language sql stable
as $$
  select s.region_id, s.component_id
  from region_state s
  where (
      engine.is_bad(s.state)
      or s.bad_until > at - engine.ms(r.impaired_within_ms)
        and not exists (
          select from impairment i
          where i.region_id = s.region_id and not i.seen_elsewhere
            and (i.ended_at is null or i.ended_at > at - engine.ms(r.impaired_within_ms))
        )
    )
    and s.region_id <> all (
      array(
        select i.region_id
        from impairment i
        where i.ended_at is null and i.recognised_at <= at - engine.ms(r.impaired_within_ms)
      )
    )
$$;

-- How each region sees each venue as a whole; only venues of which it knows at least half of the components, because a
-- few do not speak for the venue. Not by unproven ones. A venue is cut off where the region's network may be the
-- reason: an answer of the venue, also a bad one, shows that the way works, and a region that blamed itself for a
-- common outage would leave no trace of it.
create function engine.venues_by_region(at timestamptz, r engine.rules)
returns table (
  region_id   smallint,
  venue       text,
  bad         boolean,
  lately_bad  boolean,
  cut_off     boolean,
  freshly_cut boolean
)
language sql stable
as $$
  select
    s.region_id,
    v.venue,
    count(*) filter (where engine.is_bad(s.state)) * 2 >= count(*),
    count(l.component_id) * 2 >= count(*),
    count(*) filter (where engine.is_bad(s.state) and s.may_be_ours) * 2 >= count(*)
      and not bool_or(engine.is_bad(s.state) and s.answers_badly),
    count(*) filter (where s.bad_since > at - engine.ms(r.impaired_within_ms) and s.may_be_ours) * 2 >= count(*)
      and not bool_or(engine.is_bad(s.state) and s.answers_badly)
  from engine.proven_states(at) s
  join component c using (component_id)
  join venue v using (venue_id)
  left join engine.lately_bad(at, r) l using (component_id, region_id)
  join engine.proven_sizes(at) n using (venue_id)
  where s.state <> 'unknown'
  group by s.region_id, v.venue, n.components
  having count(*) * 2 >= n.components
$$;

-- How each group of regions sees each venue that it measures, and whether it is alone with that. A group is one region,
-- or the regions of a shared vantage; a group with an open impairment is judged until that ends. Other regions count
-- even if they have just become impaired: an outage of a common host may reach the regions some seconds apart, and each
-- of them would look alone for a moment.
create function engine.venues_by_group(at timestamptz, r engine.rules)
returns table (
  regions     smallint[],
  venue       text,
  bad         boolean,
  cut_off     boolean,
  freshly_cut boolean,
  alone       boolean
)
language sql stable
as $$
  with seen as materialized (
    select * from engine.venues_by_region(at, r)
  ),
  groups as (
    select array[g.region_id] as regions from region g where g.published
    union
    select array_agg(v.region_id order by v.region_id) from engine.vantages(at) v where v.regions > 1 group by v.vantage
    union
    select i.beside from impairment i where i.ended_at is null and i.beside is not null
  )
  select
    g.regions,
    s.venue,
    bool_and(s.bad) filter (where i.inside),
    bool_and(s.cut_off) filter (where i.inside),
    bool_and(s.freshly_cut) filter (where i.inside),
    (bool_or(s.lately_bad) filter (where not i.inside)) is not true
  from groups g
  cross join seen s
  cross join lateral (select s.region_id = any (g.regions) as inside) i
  group by g.regions, s.venue
  having bool_or(i.inside)
$$;

-- Generic plan: by default PostgreSQL plans these statements at every tick, which takes several times as long as
-- running them.
create function engine.store_impairments(at timestamptz, r engine.rules) returns void
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
begin
  update impairment i
  set ended_at = at,
      seen_elsewhere = s.young and 2 * now_seen.bad > cardinality(i.venues)
  from impairment n
  -- After this long, an impairment stays the region's own until it is over: a second region whose network also fails
  -- does not confirm an outage.
  cross join lateral (
    select n.recognised_at > at - engine.ms(r.impaired_within_ms) as young
  ) s
  cross join lateral (
    select
      count(*) filter (where a.bad) as bad,
      count(*) filter (where a.cut_off) as cut_off,
      count(*) filter (where a.cut_off and a.alone) as cut_alone
    from engine.venues_by_group(at, r) a
    where a.regions = coalesce(n.beside, array[n.region_id]) and a.venue = any (n.venues)
  ) now_seen
  where n.ended_at is null and i.impairment_id = n.impairment_id
    and 2 * case when s.young then now_seen.cut_alone else now_seen.cut_off end <= cardinality(i.venues);

  -- nothing turned bad a moment ago, the usual case: then no group is cut off
  if not exists (select from region_state s where s.bad_since > at - engine.ms(r.impaired_within_ms)) then
    return;
  end if;

  insert into impairment (region_id, started_at, recognised_at, venues, measured, beside)
  with recognised as (
    select
      a.regions,
      count(*) as measured,
      array_agg(a.venue order by a.venue) filter (where a.freshly_cut and a.alone) as venues
    from engine.venues_by_group(at, r) a
    group by a.regions
    having count(*) >= r.impaired_min_venues
      and count(*) filter (where a.freshly_cut and a.alone) > count(*) * r.impaired_venue_share
  )
  -- prefer the record of the region alone to that of its group
  select distinct on (g.region_id)
    g.region_id, n.started_at, at, c.venues, c.measured, case when cardinality(c.regions) > 1 then c.regions end
  from recognised c
  -- starts with the first failure that no other region sees: one of these venues may have had trouble before
  cross join lateral (
    select coalesce(min(least(s.bad_since, s.run_from)), at) as started_at
    from engine.proven_states(at) s
    join component k using (component_id)
    join venue v using (venue_id)
    where s.region_id = any (c.regions)
      and v.venue = any (c.venues)
      and s.bad_since > at - engine.ms(r.impaired_within_ms)
      and s.may_be_ours
      and not exists (
        select from engine.lately_bad(at, r) e where e.component_id = s.component_id and e.region_id <> all (c.regions)
      )
  ) n
  join region g on g.region_id = any (c.regions) and g.published
  where g.region_id <> all (array(select engine.impaired_regions(at, at)))
    -- a region that measures nothing sees no failure, whatever others on its machine see
    and 2 * (
      select count(*)
      from engine.venues_by_region(at, r) s
      where s.region_id = g.region_id and s.venue = any (c.venues) and s.cut_off
    ) > cardinality(c.venues)
  order by g.region_id, cardinality(c.regions);
end;
$$;

-- Vantages whose own network seems to start failing: more than half of the venues that any of its regions has measured
-- since the newest trouble began fail there, but not elsewhere, and not by an answer; a stream that does not fail shows
-- nothing. Endpoints are measured at different times, so some have failed three times when others have failed once, and
-- those measured once a minute not yet. Whole venues take longer to turn bad, so this is seen before an impairment is.
create function engine.suspect_vantages(at timestamptz, r engine.rules) returns setof smallint
language sql stable
as $$
  -- what a region has long seen bad says nothing about now
  with seen as (
    select
      g.vantage,
      c.venue_id,
      c.kind,
      s.component_id,
      s.newest_at,
      s.bad_run > 0 as failing,
      s.answers_badly,
      n.cut,
      max(
        case when engine.is_bad(s.state) and s.bad_run >= r.opening_bad_run and n.cut then s.run_from end
      ) over (partition by g.vantage) as trouble_from
    from engine.vantages(at) g
    join engine.proven_states(at) s using (region_id)
    join component c using (component_id)
    -- by its newest sample; a slow answer has no fault
    cross join lateral (
      select s.bad_run > 0 and not s.answers_badly and coalesce(engine.may_be_ours(s.newest_fault, null), true) as cut
    ) n
    where s.state <> 'unknown'
      and (s.bad_since <= at - engine.ms(r.impaired_within_ms)) is not true
  ),
  of_component as (
    select
      s.vantage,
      s.venue_id,
      s.component_id,
      bool_and(s.cut) as cut,
      bool_or(s.failing and s.answers_badly) as answers_badly,
      -- a stream looks well until it has been silent for its stall threshold
      s.kind = 'rest' or bool_or(s.cut or s.failing and s.answers_badly) as shows
    from seen s
    where s.newest_at >= s.trouble_from
    group by s.vantage, s.venue_id, s.component_id, s.kind
  ),
  -- computed once: looked up per component, it took 12 s for 21,000 series
  fails_at as (
    select s.component_id, min(s.vantage) as first, max(s.vantage) as last
    from seen s
    where s.failing
    group by s.component_id
  ),
  -- A venue fails only at this vantage if fewer than half of the components that fail there fail elsewhere, by at least
  -- one sample: if that took three, the first region to see a common host fail would look suspect. Half, because some
  -- request always fails.
  of_venue as (
    select
      o.vantage,
      o.venue_id,
      2 * count(*) filter (where o.cut and (f.first <> o.vantage or f.last <> o.vantage))
        < count(*) filter (where o.cut)
      and count(*) filter (where o.answers_badly) <= count(*) filter (where o.cut) as fails_alone
    from of_component o
    left join fails_at f using (component_id)
    where o.shows
    group by o.vantage, o.venue_id
  )
  select v.vantage
  from of_venue v
  -- the only region of a registry has no other to wait for
  where (select count(*) from region g where g.published) > 1
  group by v.vantage
  having count(*) >= r.impaired_min_venues
    and count(*) filter (where v.fails_alone) > count(*) * r.impaired_venue_share
$$;
