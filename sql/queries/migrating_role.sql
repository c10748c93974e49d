-- What the current user may do of what a migration needs. One row {name, database, is_superuser, is_owner, cannot_make, cannot_join}: the
-- roles of ours that are missing and that it may not make, and those that it must be a member of, is not, and may not make itself one of.
select
  me.rolname as name,
  d.datname as database,
  me.rolsuper as is_superuser,
  pg_has_role(d.datdba, 'usage') as is_owner,
  array(
    select wanted
    from unnest(array['vw_probe', 'vw_core', 'vw_web', 'vw_analyst']) wanted
    where to_regrole(wanted) is null and not me.rolsuper and not me.rolcreaterole
  ) as cannot_make,
  array(
    select r.rolname::text
    from pg_roles r
    where r.rolname in ('vw_core', 'vw_web')
      and not pg_has_role(r.oid, 'usage')
      -- from PostgreSQL 16 on, to create roles is not to administer those of others
      and not (me.rolcreaterole and current_setting('server_version_num')::int < 160000)
      and not pg_has_role(r.oid, 'member with admin option')
    order by r.rolname
  ) as cannot_join
from pg_roles me
join pg_database d on d.datname = current_database()
where me.rolname = current_user
