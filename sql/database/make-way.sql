-- Clears the way for new definitions. The old schemas are renamed first, which waits for no reader: running statements
-- continue, and find the new ones by the old name after the commit. If they were dropped here, every reader would wait
-- until all definitions are recreated.
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

-- The published form of times: UTC, milliseconds, Z. Stable, as to_char is: if it were declared immutable, it would not
-- be inlined, and would take seven times as long.
create function api.iso(at timestamptz) returns text
language sql stable parallel safe
return to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

-- The published rounding of times, a half to the even neighbour. The roll-ups usual_hour and latency_hour must round
-- the same way.
create function api.whole_ms(us double precision) returns integer
language sql immutable parallel safe
return round(us / 1000)::int;
