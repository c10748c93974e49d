-- Who may do what: four roles with least rights. Nobody logs in as one of them; a login is made a member of its own:
--   create role core_1 login password '…' in role vw_core;
--
-- vw_probe    measures: delivers samples, which it may not read, and shares the venues of its region with other probes
-- vw_core     decides and keeps up the history
-- vw_web      answers: reads the api and what its functions stand on, and writes nothing; analysts' functions run as it
-- vw_analyst  asks by psql: reads the views of schema analytics, and nothing else
--
-- TimescaleDB lets only the owner refresh, compress and drop, and PostgreSQL only the owner vacuum. So what core keeps
-- up is owned by vw_core (queries/not_yet_owned.sql): it could alter or drop those tables too. The alternative, membership in the role that
-- migrates, would make it a superuser, as only one migrates.
--
-- Roles belong to the whole server. Another database that is migrated at the same time may make them first.
do $$
declare
  wanted text;
begin
  foreach wanted in array array['vw_probe', 'vw_core', 'vw_web', 'vw_analyst'] loop
    if to_regrole(wanted) is null then
      begin
        execute format('create role %I nologin', wanted);
      exception
        when duplicate_object or unique_violation then null;
      end;
    end if;
  end loop;
end;
$$;

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
        alert_event,rules_in_force,official_source,official_reading,official_incident,official_change,delivery,watch,retracted_in_confidence
      }'),
      -- where all probes of a region are: each keeps it up with its sign of life, and each tick says from when on what it found holds
      ('{vw_core}', '{update}', '{region_vantage}'),
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

-- What analysts call and may not do themselves is done by vw_web, which reads and writes nothing. Nobody else calls it.
do $$
declare
  lent regprocedure;
begin
  grant create on schema analytics to vw_web;
  for lent in
    select p.oid
    from pg_proc p
    where p.pronamespace = 'analytics'::regnamespace and p.prosecdef
    order by p.oid
  loop
    execute format('alter function %s owner to vw_web', lent);
  end loop;
  revoke create on schema analytics from vw_web;
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

-- What PostgreSQL and TimescaleDB let everybody do who may connect: fill the disk with temporary tables, which no limit of temporary files
-- counts, with large objects, and with messages in the log that replicas and archives get, even from a transaction that is read only; leave jobs
-- behind that run on their own; and take advisory locks, of which one session exhausts the memory that the locks of all share, or holds ours.
-- Nobody here needs that, but for core's upkeep perhaps the first, and for some of these locks who takes turns by them.
do $$
declare
  given regprocedure;
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
  -- a probe for hold_watch.sql; core for hold_outbox.sql, the retention of upkeep.sql, and replays
  grant execute on function pg_advisory_xact_lock(bigint) to vw_probe, vw_core;
  grant execute on function pg_try_advisory_xact_lock(bigint) to vw_core;
  for given in
    select p.oid
    from pg_proc p
    cross join aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
    where a.grantee = 0
      and (
        p.pronamespace = 'pg_catalog'::regnamespace
        and (
          p.proname in ('lo_creat', 'lo_create', 'lo_from_bytea', 'pg_logical_emit_message')
          or p.proname ~ '^pg_(try_)?advisory_(xact_)?lock'
        )
        or p.proname = 'add_job'
        and exists (
          select
          from pg_depend d
          join pg_extension e on e.oid = d.refobjid and d.refclassid = 'pg_extension'::regclass
          where d.classid = 'pg_proc'::regclass and d.objid = p.oid and e.extname = 'timescaledb'
        )
      )
  loop
    execute format('revoke execute on function %s from public', given);
  end loop;
end;
$$;
