-- Runs statements with the rights of vw_core, as rows of JSON if they return rows. `value` is the $1 of a statement
-- that returns rows.
--
-- What core has attached to its tables, a check, a default or a rule, runs with the rights of the user who writes to
-- them. `set role` would not do: an expression could set it back, to the migrating user. PostgreSQL refuses that within
-- a function that runs with its owner's rights. That owner is core, and what it has attached could alter the function
-- while it runs. So each call creates the function, and drops it before others can see it.
create function venuewatch.as_core(statement text, value jsonb, returns_rows boolean) returns setof jsonb
language plpgsql security definer
set search_path = venuewatch, public
as $$
declare
  found record;
begin
  if returns_rows then
    for found in execute statement using value loop
      return next to_jsonb(found);
    end loop;
  else
    execute statement;
  end if;
  -- at the end of the transaction, deferred checks would run as the migrating user
  set constraints all immediate;
end;
$$;

revoke execute on function venuewatch.as_core from public;
grant create on schema venuewatch to vw_core;
alter function venuewatch.as_core owner to vw_core;
revoke create on schema venuewatch from vw_core;
