-- What only a superuser of the server may do for venuewatch. A migration by a superuser runs it; for an owner without
-- superuser rights, an administrator runs it once, after `create extension timescaledb` and before the first migration:
--   psql -X -v ON_ERROR_STOP=1 -d venuewatch -f sql/database/superuser.sql
-- Everything works without it; only the limits on what a login can do to others on the server are then missing. Safe to
-- repeat, and to be repeated after an administrator created logins by hand.
--
-- The database's owner could change every function and view of ours, and the search path, to become a superuser when
-- this runs. So nothing outside pg_catalog is used here: each block sets its search path first, and what PL/pgSQL
-- resolves before that, the types of its variables, is qualified.

-- The roles that get something below. The owner, unless a superuser migrates, administers these roles, and may do what
-- otherwise only a superuser may: set the limits of logins (sql/database/logins.sql), and make an autovacuum yield.
do $$
declare
  owner  pg_catalog.name;
  wanted pg_catalog.text;
begin
  perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
  select r.rolname into owner
  from pg_database d
  join pg_roles r on r.oid = d.datdba
  where d.datname = current_database()
    and not r.rolsuper
    and not exists (
      select
      from pg_namespace n
      join pg_roles m on m.oid = n.nspowner
      where n.nspname = 'venuewatch' and m.rolsuper
    );
  foreach wanted in array array['vw_probe', 'vw_core', 'vw_web', 'vw_analyst', 'vw_definer'] loop
    if to_regrole(wanted) is null then
      begin
        execute format('create role %I nologin', wanted);
      exception
        -- another database of the server created it first
        when duplicate_object or unique_violation then null;
      end;
    end if;
    if owner is not null then
      execute format('grant %I to %I with admin option', wanted, owner);
    end if;
  end loop;
  if owner is not null then
    execute format('grant set on parameter temp_file_limit, log_min_messages, deadlock_timeout to %I', owner);
  end if;
end;
$$;

-- What PostgreSQL and TimescaleDB allow everyone who may connect: fill the disk with large objects, and, even in a
-- read-only transaction, with messages in the log that replicas and archives receive; leave background jobs behind; use
-- up transaction ids; queue notifications, gigabytes of them while one listener does not read; and take advisory locks:
-- one session can exhaust the memory for all locks, or hold ours. None of this is needed here, except some of these
-- locks. NOTIFY itself needs no right, so only the server limits it (max_notify_queue_pages in compose.yaml).
do $$
declare
  given pg_catalog.regprocedure;
begin
  perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
  -- for the venue leases of probes, hold_outbox.sql, the retention of upkeep, and replays
  revoke execute on function pg_advisory_xact_lock(bigint) from vw_probe;
  grant execute on function pg_advisory_xact_lock(bigint) to vw_core;
  grant execute on function pg_try_advisory_xact_lock(bigint) to vw_core;
  for given in
    select p.oid
    from pg_proc p
    cross join aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
    where a.grantee = 0
      and (
        p.pronamespace = 'pg_catalog'::regnamespace
        and (
          p.proname in (
            'lo_creat', 'lo_create', 'lo_from_bytea', 'pg_logical_emit_message', 'pg_notify',
            'pg_current_xact_id', 'txid_current'
          )
          or p.proname ~ '^pg_(try_)?advisory_(xact_)?lock'
        )
        or p.proname = 'add_job'
        and exists (
          select
          from pg_depend d
          join pg_extension e on e.oid = d.refobjid and d.refclassid = 'pg_extension'::regclass
          where d.classid = 'pg_proc'::regclass and d.objid = p.oid and e.extname = 'timescaledb'
        )
      )
  loop
    execute format('revoke execute on function %s from public', given);
  end loop;
end;
$$;

-- Reads the state of log streaming on a replica: our function shows two values of it (board/015-replica.sql).
do $$
begin
  perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
  if not pg_has_role('vw_definer', 'pg_read_all_stats', 'usage') then
    begin
      grant pg_read_all_stats to vw_definer;
    exception
      -- another database of the server created it first
      when unique_violation then null;
    end;
  end if;
end;
$$;

-- Sums the sizes of the WAL's files for core's metrics (board/016-wal-bytes.sql). Role pg_monitor would allow it, too,
-- but also to read every statement of every session.
grant execute on function pg_catalog.pg_ls_waldir() to vw_definer;

-- Settings that only a superuser may give (logins.setting has them all): a login's limit of temporary files, and what
-- is logged about it.
do $$
declare
  wanted pg_catalog.record;
begin
  perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
  for wanted in
    select r.rolname as login, s.setting, s.value
    from pg_roles r
    join pg_auth_members m on m.member = r.oid
    join (
      values
        ('vw_probe', 'temp_file_limit', '100MB'),
        ('vw_core', 'temp_file_limit', '10GB'),
        ('vw_core', 'log_min_messages', 'fatal'),
        ('vw_web', 'temp_file_limit', '1GB'),
        ('vw_analyst', 'temp_file_limit', '4GB')
    ) s (role, setting, value)
      on m.roleid = to_regrole(s.role)
    -- migrating users who are members of several roles are left unchanged
    where r.rolcanlogin and not r.rolsuper and not r.rolcreaterole
      and not coalesce(s.setting || '=' || s.value = any (r.rolconfig), false)
    group by 1, 2, 3
    order by 1, 2, 3
  loop
    execute format('alter role %I set %I = %L', wanted.login, wanted.setting, wanted.value);
  end loop;
  -- people who log in as vw_analyst itself
  execute format('alter role vw_analyst in database %I set temp_file_limit = %L', current_database(), '4GB');
end;
$$;
