-- The vantages that the service looks from. Regions whose probes all run on one machine are one vantage, whatever their
-- names.

-- The machine that all probes of a region ran on at an instant, as far as they had reported by then; null: several, or
-- unknown.
create function api.vantage_of(of_region smallint, at timestamptz) returns text
language sql stable
return (
  select v.machine
  from region_vantage v
  where v.region_id = of_region and v.holds_from <= at
  order by v.holds_from desc
  limit 1
);

-- Each published region, its machine, and the other regions on it. A region without a known machine is a vantage by
-- itself.
create view api.vantage as
with machines as (
  select g.region_id, g.region, g.position, api.vantage_of(g.region_id, k.generated_at) as machine
  from region g
  cross join api.clock k
  where g.published
)
select
  m.region_id,
  m.machine,
  coalesce(m.machine, 'region ' || m.region) as place,
  array(
    select o.region
    from machines o
    where o.machine = m.machine and o.region_id <> m.region_id
    order by o.position
  ) as same_machine_as
from machines m;

-- Number of vantages of some regions, and a note for readers; null if each region is a vantage by itself. plpgsql,
-- because its plan is cached.
create function api.vantages_of(regions smallint[], out vantages integer, out note text)
language plpgsql stable
as $$
begin
  with places as (
    select
      v.place,
      count(*) as regions,
      string_agg(g.region, ', ' order by g.position) as names,
      min(g.position) as position
    from api.vantage v
    join region g using (region_id)
    where v.region_id = any (regions)
    group by v.place
  )
  select
    count(*)::int,
    string_agg(
      format(
        '%s run on one machine and are one vantage: trouble of its network may look like trouble of venues.', p.names
      ),
      ' ' order by p.position
    ) filter (where p.regions > 1)
  from places p
  into vantages, note;
end;
$$;
