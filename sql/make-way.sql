-- A clean slate for what only defines. What stood gets other names first, which waits for nobody: what reads it goes
-- on, and finds the new by the old name from the commit on. Were it dropped here, every reader would wait until all is
-- made.
do $$
declare
  wanted text;
begin
  foreach wanted in array array['api', 'engine', 'upkeep', 'analytics', 'logins'] loop
    if to_regnamespace(wanted) is not null then
      execute format('alter schema %I rename to %I', wanted, 'venuewatch_former_' || wanted);
    end if;
    execute format('create schema %I', wanted);
  end loop;
end;
$$;

-- Times as they are written everywhere: UTC, milliseconds, Z. Stable, as to_char is: were it declared more than what it
-- calls, it would not be inlined, and take seven times as long.
create function api.iso(at timestamptz) returns text
language sql stable parallel safe
return to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

-- All times that are published are rounded in this way, a half to the even neighbour. The roll-ups usual_hour and
-- latency_hour round the same way, and have to.
create function api.whole_ms(us double precision) returns integer
language sql immutable parallel safe
return round(us / 1000)::int;
