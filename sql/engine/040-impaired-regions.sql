-- Chapter 4 of RULEBOOK.md: which regions have trouble of their own?

-- The regions that were impaired at an instant, by what was recorded at `known_at`. At the instant itself those that were
-- recognised by then; in hindsight those that were recognised a little later, too.
create function engine.impaired_regions(at timestamptz, known_at timestamptz) returns setof smallint
language sql stable
as $$
  -- in hindsight two of a region may overlap: the second starts before it is recognised
  select distinct i.region_id
  from impairment i
  where i.recognised_at <= known_at
    and i.started_at <= at
    and (i.ended_at is null or i.ended_at > at)
$$;

-- How does each region see each venue as a whole? Only venues that it knows a component of.
create function engine.venues_by_region(at timestamptz, r engine.rules)
returns table (
  region_id   smallint,
  venue       text,
  bad         boolean,
  freshly_bad boolean,
  fresh_since timestamptz
)
language sql stable
as $$
  select
    s.region_id,
    v.venue,
    count(*) filter (where engine.is_bad(s.state)) * 2 >= count(*),
    count(*) filter (where s.bad_since > at - engine.ms(r.impaired_within_ms)) * 2 >= count(*),
    min(s.bad_since) filter (where s.bad_since > at - engine.ms(r.impaired_within_ms))
  from region_state s
  join component c using (component_id)
  join venue v using (venue_id)
  where s.state <> 'unknown'
  group by s.region_id, v.venue
$$;

-- Which venues does each region see bad that no other region does? Other regions are asked whether impaired or not: an
-- outage of a common host may reach the regions some seconds apart, and each of them would look alone for a moment.
create function engine.venues_bad_alone(at timestamptz, r engine.rules)
returns table (region_id smallint, venue text, freshly_bad boolean, fresh_since timestamptz)
language sql stable
as $$
  with seen as materialized (
    select * from engine.venues_by_region(at, r)
  )
  select s.region_id, s.venue, s.freshly_bad, s.fresh_since
  from seen s
  where s.bad
    and not exists (
      select from seen o
      where o.venue = s.venue and o.region_id <> s.region_id and o.bad
    )
$$;

create function engine.keep_impairments(at timestamptz, r engine.rules) returns void
language plpgsql
as $$
begin
  update impairment i
  set ended_at = at
  where i.ended_at is null
    and cardinality(i.venues) >= 2 * (
      select count(*)
      from engine.venues_bad_alone(at, r) a
      where a.region_id = i.region_id and a.venue = any (i.venues)
    );

  insert into impairment (region_id, started_at, recognised_at, venues, measured)
  with measured as (
    select v.region_id, count(*) as venues
    from engine.venues_by_region(at, r) v
    where v.region_id <> all (array(select engine.impaired_regions(at, at)))
    group by v.region_id
  )
  select m.region_id, min(a.fresh_since), at, array_agg(a.venue order by a.venue), m.venues
  from measured m
  join engine.venues_bad_alone(at, r) a using (region_id)
  where m.venues >= r.impaired_min_venues
    and a.freshly_bad
  group by m.region_id, m.venues
  having count(*) > m.venues * r.impaired_venue_share
  order by m.region_id;
end;
$$;
