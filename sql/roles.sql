-- Who may do what: four roles with least rights. Nobody logs in as one of them; a login is made a member of its own:
--   create role core_1 login password '…' in role vw_core;
--
-- vw_probe    measures: delivers samples, which it may not read, and shares the venues of its region with other probes
-- vw_core     decides and keeps up the history
-- vw_web      answers: reads the api and what its functions stand on, and writes nothing
-- vw_analyst  asks by psql: reads the views of schema analytics, and nothing else
--
-- A fifth one has no logins and no members: vw_definer owns the functions that run with their owner's rights (security definer). It may read
-- what vw_web may. They are not vw_web's own, since every web login could drop or replace them then.
--
-- TimescaleDB lets only the owner refresh, compress and drop, and PostgreSQL only the owner vacuum. So what core keeps
-- up is owned by vw_core (queries/not_yet_owned.sql): it could alter or drop those tables too. The alternative, membership in the role that
-- migrates, would give it everything that this role may do, which often is a superuser. Where it is none, all tables are vw_core's (migrating-role.ts).

grant usage on schema venuewatch to vw_probe, vw_core, vw_web;
grant usage on schema upkeep to vw_probe, vw_core;
-- what the engine computes may be computed again; its functions run with the rights of who calls them
grant usage on schema engine to vw_core, vw_web;
grant usage on schema api to vw_core, vw_web;
grant usage on schema analytics to vw_analyst;

-- Table by table, so that what holds secrets is never readable by being forgotten here. Of alerts the log of what was sent is
-- read; where they go, and what the receivers answered, is for core and its operators alone.
--
-- Only what is missing: a grant rewrites the rows of a table and of all its chunks in the catalogue, and what makes a chunk at that
-- moment, a refresh or a probe's insert, would fail with "tuple concurrently updated".
do $$
declare
  missing text;
begin
  for missing in
    select format('grant %s on venuewatch.%I to %I', privilege, held, role)
    from (values
      ('{vw_probe,vw_core,vw_web}', '{select}', '{region,venue,component,region_vantage,migration,definition}'),
      ('{vw_web}', '{select}', '{
        sample,sample_minute,sample_hour,component_minute,venue_minute,component_hour,venue_hour,component_day,venue_day,latency_day,
        venue_latency_day,usual_hour,rest_hour,stream_hour,latency_hour,
        excluded_minute,regions_published,rollups_made,component_day_former,venue_day_former,
        hours_kept,typical_week,open_hour,shown_probe,probe,engine_clock,region_state,component_state,venue_state,incident,typical_latency,impairment,outlier,
        alert_event,timeline,rules_in_force,official_source,official_reading,official_incident,official_change,delivery,watch,retracted_in_confidence
      }'),
      -- where all probes of a region are: each keeps it up with its sign of life, and each tick says from when on what it found holds
      ('{vw_core}', '{update}', '{region_vantage}'),
      ('{vw_core}', '{select,insert,update}', '{service_address}'),
      ('{vw_probe}', '{insert}', '{sample,region_vantage}'),
      ('{vw_probe}', '{select,insert,update}', '{probe,watch}')
    ) as wanted (grantees, privileges, tables)
    cross join unnest(grantees::text[]) as granted (role)
    cross join unnest(privileges::text[]) as privilege
    cross join unnest(tables::text[]) as held
    where not exists (
      select
      from pg_class c
      cross join aclexplode(c.relacl) a
      where c.oid = format('venuewatch.%I', held)::regclass and a.grantee = to_regrole(granted.role) and a.privilege_type = upper(privilege)
    )
  loop
    execute missing;
  end loop;
end;
$$;

grant select on all tables in schema api to vw_core, vw_web;
grant select on all tables in schema analytics to vw_analyst;

revoke execute on all routines in schema upkeep from public;
grant execute on all routines in schema upkeep to vw_core;
grant execute on function upkeep.refused_after() to vw_probe;

-- Functions that run with their owner's rights get an owner that nobody logs in as. All of them only read.
do $$
declare
  lent regprocedure;
begin
  if not pg_has_role('vw_definer', 'vw_web', 'usage') then
    begin
      grant vw_web to vw_definer;
    exception
      -- another database of the server did it first
      when unique_violation then null;
    end;
  end if;
  grant create on schema analytics, api to vw_definer;
  for lent in
    select p.oid
    from pg_proc p
    where p.pronamespace in ('analytics'::regnamespace, 'api'::regnamespace) and p.prosecdef
    order by p.oid
  loop
    execute format('alter function %s owner to vw_definer', lent);
  end loop;
  revoke create on schema analytics, api from vw_definer;
end;
$$;

revoke execute on all routines in schema analytics from public;
grant execute on all routines in schema analytics to vw_analyst;

-- Until 0.8 analysts read the tables themselves.
do $$
declare
  held regclass;
begin
  revoke all on schema venuewatch, engine, api from vw_analyst;
  for held in
    select c.oid
    from pg_class c
    where c.relnamespace = 'venuewatch'::regnamespace
      and exists (select from aclexplode(c.relacl) a where a.grantee = 'vw_analyst'::regrole)
    order by c.oid
  loop
    execute format('revoke all on %s from vw_analyst', held);
  end loop;
end;
$$;

-- Temporary tables fill the disk, and no limit of temporary files counts them. Only core's upkeep may need them.
do $$
begin
  -- the embedded one cannot alter the rights on a database
  if not is_embedded() and exists (
    select
    from pg_database d
    cross join aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a
    where d.datname = current_database() and a.grantee = 0 and a.privilege_type = 'TEMPORARY'
  ) then
    execute format('revoke temporary on database %I from public', current_database());
    execute format('grant temporary on database %I to vw_core', current_database());
  end if;
end;
$$;
