-- How many components the registry publishes, for the minutes of venues.

-- By its present registry: of each venue, from each instant on at which a number changes. An entry may say when its
-- component ends.
create function upkeep.components_by_registry()
returns table (venue_id smallint, holds_from timestamptz, holds_to timestamptz, rest integer, streams integer)
language sql stable
as $$
  with watched as (
    select
      c.component_id,
      c.venue_id,
      c.kind,
      tstzmultirange(tstzrange(c.watched_from, null)) - c.unwatched
        - case when c.ends_at is null then '{}' else tstzmultirange(tstzrange(c.ends_at, null)) end as times
    from component c
  ),
  changes as (
    select w.venue_id, edge.at
    from watched w
    cross join unnest(w.times) as span
    cross join lateral (values (lower(span)), (upper(span))) as edge (at)
    where edge.at is not null
    group by w.venue_id, edge.at
  ),
  spans as (
    select
      c.venue_id,
      c.at as holds_from,
      lead(c.at, 1, 'infinity') over (partition by c.venue_id order by c.at) as holds_to
    from changes c
  )
  select
    s.venue_id,
    s.holds_from,
    s.holds_to,
    count(*) filter (where w.kind = 'rest')::int,
    count(*) filter (where w.kind <> 'rest')::int
  from spans s
  join watched w on w.venue_id = s.venue_id and w.times @> s.holds_from
  group by s.venue_id, s.holds_from, s.holds_to
$$;

-- After each change of the registry: what holds from now on. What held until now stays as it was, because minutes were
-- judged by it. A venue's first numbers also hold for whatever was measured before.
create procedure upkeep.store_components_published()
language plpgsql
as $$
declare
  changed smallint[];
begin
  with henceforth as (
    select n.venue_id, greatest(n.holds_from, now()) as holds_from, n.holds_to, n.rest, n.streams
    from upkeep.components_by_registry() n
    where n.holds_to > now()
  ),
  kept as (
    select p.venue_id, greatest(p.holds_from, now()) as holds_from, p.holds_to, p.rest, p.streams
    from components_published p
    where p.holds_to > now()
  )
  select array_agg(distinct d.venue_id) into changed
  from (
    (select * from henceforth except select * from kept) union all (select * from kept except select * from henceforth)
  ) d;

  delete from components_published p
  where p.venue_id = any (changed) and p.holds_from >= now();

  update components_published p
  set holds_to = now()
  where p.venue_id = any (changed) and p.holds_to > now();

  insert into components_published (venue_id, holds_from, holds_to, rest, streams)
  select
    n.venue_id,
    case
      when p.known then greatest(n.holds_from, now())
      when n.holds_from = min(n.holds_from) over (partition by n.venue_id) then '-infinity'
      else n.holds_from
    end,
    n.holds_to,
    n.rest,
    n.streams
  from upkeep.components_by_registry() n
  cross join lateral (
    select exists (select from components_published p where p.venue_id = n.venue_id) as known
  ) p
  where n.venue_id = any (changed) and (not p.known or n.holds_to > now());
end;
$$;
