-- Who may do what: four roles with least rights. Nobody logs in as one of them; a login is made a member of its own:
--   create role core_1 login password '…' in role vw_core;
--
-- vw_probe    measures: delivers samples, which it may not read, and shares the venues of its region with other probes
-- vw_core     decides and keeps up the history
-- vw_web      answers: reads the api and what its functions stand on, and writes nothing
-- vw_analyst  asks by psql: reads the same, and recomputes what the engine decided
--
-- TimescaleDB lets only the owner refresh, compress and drop, and PostgreSQL only the owner vacuum. So what core keeps
-- up is owned by vw_core (queries/not_yet_owned.sql): it could alter or drop those tables too. The alternative, membership in the role that
-- migrates, would make it a superuser wherever a superuser migrates.
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
        when insufficient_privilege then
          raise exception 'the role % is missing, and % may not create roles; let a superuser run: create role %',
            wanted, current_user, wanted;
      end;
    end if;
  end loop;
end;
$$;

grant usage on schema venuewatch to vw_probe, vw_core, vw_web, vw_analyst;
grant usage on schema upkeep to vw_probe, vw_core;
-- what the engine reckons, analysts may reckon again; its functions run with the rights of who calls them
grant usage on schema engine to vw_core, vw_analyst;
grant usage on schema api to vw_core, vw_web, vw_analyst;
grant usage on schema analytics to vw_analyst;

grant select on region, venue, component to vw_probe, vw_core, vw_web, vw_analyst;
grant select on migration, definition to vw_probe, vw_core, vw_web;

-- Table by table, so that what holds secrets is never readable by being forgotten here. Of alerts the log of what was sent is
-- read; where they go, and what the receivers answered, is for core and its operators alone.
grant select on
  sample, sample_minute, sample_hour, component_minute, venue_minute, venue_day, latency_day,
  venue_latency_day, usual_hour, probe, engine_clock, region_state, component_state, venue_state, incident, typical_latency, impairment,
  alert_event, rules_in_force, official_source, official_reading, official_incident, official_change, delivery, watch
to vw_web, vw_analyst;
grant select on all tables in schema api to vw_core, vw_web, vw_analyst;

grant insert on sample to vw_probe;
grant select, insert, update on probe to vw_probe;
grant select, insert, update on watch to vw_probe;

revoke execute on all routines in schema upkeep from public;
grant execute on all routines in schema upkeep to vw_core;
grant execute on function upkeep.refused_after() to vw_probe;
