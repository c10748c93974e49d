-- Which of the rights for a migration the current user has. One row {name, database, is_superuser, is_embedded,
-- is_owner, migrated_by, asked}: migrated_by is another user who migrated the database before; asked are the statements
-- that an administrator must run because the user may not, in order.
with me as (
  select
    r.oid, r.rolname, r.rolsuper,
    v.knows_set,
    r.rolcreaterole and not v.knows_set as may_grant,
    r.rolsuper or r.rolcreaterole as may_make
  from pg_roles r
  cross join (select current_setting('server_version_num')::int >= 160000) v (knows_set)
  where r.rolname = current_user
),
wanted (place, role, joined_by) as (
  values
    (1, 'vw_web', 'vw_definer'),
    (2, 'vw_core', current_user),
    (3, 'vw_definer', current_user)
)
select
  me.rolname as name,
  d.datname as database,
  me.rolsuper as is_superuser,
  version() like '%emcc%' as is_embedded,
  pg_has_role(d.datdba, 'usage') as is_owner,
  (
    select owner.rolname
    from pg_namespace n
    join pg_roles owner on owner.oid = n.nspowner
    where n.nspname = 'venuewatch' and owner.oid <> me.oid and not (me.rolsuper and owner.rolsuper)
  ) as migrated_by,
  array(
    select format('create role %s nologin', role)
    from unnest(array['vw_probe', 'vw_core', 'vw_web', 'vw_analyst', 'vw_definer']) role
    where to_regrole(role) is null and not me.may_make
  ) || array(
    select format('grant %s to %I', w.role, w.joined_by)
      || case when me.knows_set then ' with inherit true, set true' else '' end
    from wanted w
    where case
        -- the creator of a role administers it
        when to_regrole(w.role) is null or to_regrole(w.joined_by) is null then not me.may_make
        -- inheriting a role's rights does not allow SET ROLE or giving it objects
        when pg_has_role(w.joined_by, to_regrole(w.role), 'usage')
          and case when me.knows_set then pg_has_role(w.joined_by, to_regrole(w.role), 'set') else true end then false
        -- from PostgreSQL 16 on, CREATEROLE does not include administering roles created by others
        else not me.may_grant and not pg_has_role(to_regrole(w.role), 'usage with admin option')
      end
    order by w.place
  ) as asked
from me
join pg_database d on d.datname = current_database()
