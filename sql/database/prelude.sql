-- What every migration needs: our schema, and the record of what was done in it. Safe to repeat.

set local search_path = venuewatch, public;
set local client_min_messages = warning;

-- Roles belong to the whole server. Another database that is migrated at the same time may create them first. For their
-- rights see roles.sql.
do $$
declare
  wanted    text;
  knows_set constant boolean := current_setting('server_version_num')::int >= 160000;
begin
  foreach wanted in array array['vw_probe', 'vw_core', 'vw_web', 'vw_analyst', 'vw_definer'] loop
    if to_regrole(wanted) is null then
      begin
        execute format('create role %I nologin', wanted);
      exception
        when duplicate_object or unique_violation then null;
      end;
    end if;
  end loop;
  -- An owner who is not a superuser must be a member of the roles that own something. PostgreSQL 16 and newer grants a
  -- role's creator ADMIN, but neither its privileges nor its objects.
  foreach wanted in array array['vw_core', 'vw_definer'] loop
    if not pg_has_role(wanted, 'usage') or (case when knows_set then not pg_has_role(wanted, 'set') end) then
      begin
        execute format('grant %I to current_user', wanted)
          || case when knows_set then ' with inherit true, set true' else '' end;
      exception
        -- another database of the server created it first
        when unique_violation then null;
      end;
    end if;
  end loop;
end;
$$;

create schema if not exists venuewatch;

create table if not exists venuewatch.migration (
  name       text primary key,
  checksum   text not null,
  applied_at timestamptz not null default now()
);

-- One row: which views and functions exist. If the files are unchanged, they are not recreated.
create table if not exists venuewatch.definition (
  only_row    boolean primary key default true check (only_row),
  -- of the files that they were created from
  checksum    text not null,
  -- of the created objects: if one was dropped or replaced by hand, or all were restored, they are recreated
  fingerprint text not null,
  -- the build that created them
  version     text not null,
  made_at     timestamptz not null default now()
);

-- Fingerprint of the existing views and functions: it changes once any of them is dropped, added or recreated.
create or replace function venuewatch.definitions_fingerprint() returns text language sql stable
begin atomic
  select md5(coalesce(string_agg(made.oid::text, ' ' order by made.oid), ''))
  from (
    select c.oid, c.relnamespace as schema from pg_class c
    union all
    select p.oid, p.pronamespace from pg_proc p
  ) made
  where made.schema in (
    select oid from pg_namespace where nspname in ('api', 'engine', 'upkeep', 'analytics', 'logins')
  );
end;

-- The embedded database needs smaller chunks than a server.
create or replace function venuewatch.is_embedded() returns boolean language sql immutable
return version() like '%emcc%';

-- Defaults for every connection: our tables by their names, UTC, and no JIT compilation, which costs more than it saves
-- here.
do $$
begin
  execute format('alter database %I set search_path = venuewatch, public', current_database());
  execute format('alter database %I set timezone = ''UTC''', current_database());
  execute format('alter database %I set jit = off', current_database());
end;
$$;
