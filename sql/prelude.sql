-- What every migration starts from: our schemas, the list of what was applied, and a clean slate for definitions.

set local search_path = venuewatch, public;
set local client_min_messages = warning;

create schema if not exists venuewatch;

create table if not exists venuewatch.migration (
  name       text primary key,
  checksum   text not null,
  applied_at timestamptz not null default now()
);

-- The embedded database wants smaller chunks than a server.
create or replace function venuewatch.is_embedded() returns boolean language sql immutable
return version() like '%emcc%';

-- Whoever connects reads our tables by their names, in UTC, without the compiler that costs more than it saves here.
do $$
begin
  execute format('alter database %I set search_path = venuewatch, public', current_database());
  execute format('alter database %I set timezone = ''UTC''', current_database());
  execute format('alter database %I set jit = off', current_database());
end;
$$;

drop schema if exists api cascade;
drop schema if exists engine cascade;
drop schema if exists upkeep cascade;
drop schema if exists analytics cascade;
drop schema if exists logins cascade;
create schema upkeep;
create schema engine;
create schema api;
create schema analytics;
create schema logins;

-- Times as they are written everywhere: UTC, milliseconds, Z. Stable, as to_char is: were it declared more than what it calls, it
-- would not be inlined, and take seven times as long.
create function api.iso(at timestamptz) returns text
language sql stable parallel safe
return to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
