-- What the current user may do of what a migration needs. One row {name, database, is_superuser, is_owner, migrated_by, asked}: who migrated it
-- before, where the user lacks that role's rights; and the statements about roles that an administrator has to run, since the user may not, in order.
with me as (
  select rolname, rolsuper, rolcreaterole and current_setting('server_version_num')::int < 160000 as may_grant, rolsuper or rolcreaterole as may_make
  from pg_roles
  where rolname = current_user
),
wanted (place, role, joined_by, statement) as (
  values
    (1, 'vw_web', 'vw_definer', 'grant vw_web to vw_definer'),
    (2, 'vw_core', current_user, format('grant vw_core to %I', current_user)),
    (3, 'vw_definer', current_user, format('grant vw_definer to %I', current_user))
)
select
  me.rolname as name,
  d.datname as database,
  me.rolsuper as is_superuser,
  pg_has_role(d.datdba, 'usage') as is_owner,
  (
    select n.nspowner::regrole::text
    from pg_namespace n
    where n.nspname = 'venuewatch' and not pg_has_role(n.nspowner, 'usage')
  ) as migrated_by,
  array(
    select format('create role %s nologin', role)
    from unnest(array['vw_probe', 'vw_core', 'vw_web', 'vw_analyst', 'vw_definer']) role
    where to_regrole(role) is null and not me.may_make
  ) || array(
    select w.statement
    from wanted w
    where case
        -- who makes a role administers it
        when to_regrole(w.role) is null or to_regrole(w.joined_by) is null then not me.may_make
        when pg_has_role(w.joined_by, to_regrole(w.role), 'usage') then false
        -- from PostgreSQL 16 on, to create roles is not to administer those of others
        else not me.may_grant and not pg_has_role(to_regrole(w.role), 'usage with admin option')
      end
    order by w.place
  ) as asked
from me
join pg_database d on d.datname = current_database()
