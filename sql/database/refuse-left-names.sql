-- Refuse a schema file after which schema venuewatch has a function or operator with the name of one of PostgreSQL's or
-- of an extension's. Core's role may create there while the file runs, and so may what core's login has attached to its
-- tables. With better fitting types, such a function would be called in place of the other, by the user who migrates.
set local search_path = pg_catalog, pg_temp;

do $$
declare
  left_names text;
begin
  select string_agg(l.name, ', ')
  into left_names
  from (
    select p.oid::regprocedure::text as name
    from pg_proc p
    where p.pronamespace = 'venuewatch'::regnamespace
      and exists (
        select
        from pg_proc other
        where other.proname = p.proname and other.pronamespace in ('pg_catalog'::regnamespace, 'public'::regnamespace)
      )
    union all
    select o.oid::regoperator::text
    from pg_operator o
    where o.oprnamespace = 'venuewatch'::regnamespace
  ) l;
  if left_names is not null then
    raise exception 'expected no functions of these names in schema venuewatch, got %', left_names
      using hint = 'Look for checks, rules, policies and triggers that a login of core attached to its tables.';
  end if;
end;
$$;

set local search_path = venuewatch, public;
