-- Rights: five least-privilege roles. Nobody logs in as a role itself; a login becomes a member of its role:
--   create role core_1 login password '…' in role vw_core;
--
-- vw_probe    measures: delivers samples of its own region, and shares that region's venues with other probes, by
--             functions that run with core's rights; writes to no table itself, and reads only those that
--             `venuewatch doctor` checks on its machine (grants.sql)
-- vw_core     decides, and maintains the history
-- vw_web      answers: reads schema api and what its functions need, and writes nothing
-- vw_analyst  queries by psql: reads the views of schema analytics, and nothing else
--
-- The fifth has no logins: vw_definer owns the functions that run with their owner's rights (security definer). It may
-- read what vw_web may. They do not belong to vw_web, because then every web login could drop or replace them.
--
-- TimescaleDB lets only the owner refresh, compress and drop, and PostgreSQL only the owner vacuum. So vw_core owns
-- what core maintains (not_yet_owned.sql): it could alter or drop those tables too. The alternative, membership
-- in the migrating role, would give it all rights of that role, which often is a superuser.

grant usage on schema venuewatch to vw_probe, vw_core, vw_web;
grant usage on schema upkeep to vw_probe, vw_core;
-- the engine's results can be recomputed; its functions run with the caller's rights
grant usage on schema engine to vw_core, vw_web;
grant usage on schema api to vw_core, vw_web;
grant usage on schema analytics to vw_analyst;

grant select on all tables in schema api to vw_core, vw_web;
grant select on all tables in schema engine to vw_core;
grant select on all tables in schema analytics to vw_analyst;

revoke execute on all routines in schema upkeep from public;
grant execute on all routines in schema upkeep to vw_core;
grant execute on function upkeep.require_region, upkeep.renew_probe, upkeep.record_samples, upkeep.share_venue_leases,
  upkeep.release_venue_leases to vw_probe;

-- Functions that lend core's rights to probes.
do $$
declare
  lending regprocedure;
begin
  grant create on schema upkeep to vw_core;
  for lending in
    select p.oid from pg_proc p where p.pronamespace = 'upkeep'::regnamespace and p.prosecdef order by p.oid
  loop
    execute format('alter function %s owner to vw_core', lending);
  end loop;
  revoke create on schema upkeep from vw_core;
end;
$$;

-- Other functions that run with their owner's rights get an owner without logins. All of them only read.
do $$
declare
  definer_function regprocedure;
begin
  if not pg_has_role('vw_definer', 'vw_web', 'usage') then
    begin
      grant vw_web to vw_definer;
    exception
      -- another database of the server created it first
      when unique_violation then null;
    end;
  end if;
  grant create on schema analytics, api to vw_definer;
  for definer_function in
    select p.oid
    from pg_proc p
    where p.pronamespace in ('analytics'::regnamespace, 'api'::regnamespace) and p.prosecdef
    order by p.oid
  loop
    execute format('alter function %s owner to vw_definer', definer_function);
  end loop;
  revoke create on schema analytics, api from vw_definer;
end;
$$;

revoke execute on all routines in schema analytics from public;
grant execute on all routines in schema analytics to vw_analyst;

-- Temporary tables fill the disk, and temp_file_limit does not count them. On the embedded database, the next client
-- waits while they are dropped, which cannot be cancelled. Nor may core create a temporary function, which a trigger on
-- its tables would run with the rights of any user who writes to them.
do $$
begin
  if exists (
    select
    from pg_database d
    cross join aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a
    where d.datname = current_database() and a.grantee in (0, 'vw_core'::regrole) and a.privilege_type = 'TEMPORARY'
  ) then
    execute format('revoke temporary on database %I from public, vw_core', current_database());
  end if;
end;
$$;
