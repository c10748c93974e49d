-- Size of the directory with the server's WAL, which grows without bound while archiving fails; null where nobody may
-- know.
--
-- Only members of pg_monitor may list the directory, so this runs with the rights of vw_definer, to whom
-- superuser.sql grants this one function of the server. It returns a sum, and no names.
create function api.wal_bytes() returns bigint
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if not has_function_privilege('pg_ls_waldir()', 'execute') then
    return null;
  end if;
  return (select sum(f.size) from pg_ls_waldir() f);
end;
$$;
