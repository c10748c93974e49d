-- Settings of logins. A login inherits rights from its role, but no settings, so these are set on the login itself.
--
-- They are the last barrier, for what a program forgets or a person tries: our programs set shorter timeouts for
-- themselves. A user may change its own timeouts, but neither its connection limit nor temp_file_limit. The connections
-- of all roles together fit into the hundred that a server has by default: five probes in each of three regions, three
-- cores, six web processes.

create function logins.role_of(kind text) returns name
language sql immutable
return case when kind in ('probe', 'core', 'web', 'analyst') then 'vw_' || kind end;

create function logins.connections_of(kind text) returns integer
language sql immutable
return case kind
  -- for each region: its login
  when 'probe' then 10
  when 'core' then 30
  when 'web' then 24
  when 'analyst' then 5
  when 'replica' then 5
end;

-- One row per kind of login and setting. `written`: the value as `alter role` takes it; a list is not one text.
create view logins.setting as
select kind, setting, value, case when setting = 'search_path' then value else quote_literal(value) end as written
from (
  values
    ('probe', 'statement_timeout', '1min'),
    ('probe', 'idle_in_transaction_session_timeout', '1min'),
    ('probe', 'temp_file_limit', '100MB'),
    -- its longest statement is the compression of a day
    ('core', 'statement_timeout', '10min'),
    ('core', 'idle_in_transaction_session_timeout', '1min'),
    ('core', 'temp_file_limit', '10GB'),
    -- TimescaleDB writes several lines into the server's log for each refresh of a roll-up; core logs failures itself
    ('core', 'log_min_messages', 'fatal'),
    ('web', 'statement_timeout', '20s'),
    ('web', 'idle_in_transaction_session_timeout', '20s'),
    ('web', 'temp_file_limit', '1GB'),
    ('web', 'default_transaction_read_only', 'on'),
    ('analyst', 'statement_timeout', '5min'),
    ('analyst', 'idle_in_transaction_session_timeout', '10min'),
    ('analyst', 'idle_session_timeout', '1h'),
    ('analyst', 'temp_file_limit', '4GB'),
    ('analyst', 'default_transaction_read_only', 'on'),
    -- first the schema that an analyst may have to write in
    ('analyst', 'search_path', '"$user", analytics, public')
) s (kind, setting, value);

-- Whether the current user may set this setting for a role.
create function logins.may_set(setting text) returns boolean
language sql stable
return (
  select p.context <> 'superuser' or has_parameter_privilege(p.name, 'set')
  from pg_settings p
  where p.name = may_set.setting
);

-- Creates or changes a login: afterwards it is a member of the role of its kind and of no other of ours, and has the
-- settings and the password. `replica` is a member of none: it may stream the log of the whole server, and nothing
-- else. A probe delivers samples of `region` alone. An analyst with `own_schema` gets a schema of the login's name,
-- where it may create what it likes, and keeps it until somebody drops that schema.
--
-- Requires a superuser, or CREATEROLE with ADMIN on our roles. Returns its connection limit.
create function logins.keep(
  login name, kind text, verifier text, connections integer, own_schema boolean, region text
) returns integer
language plpgsql as $$
declare
  has_schema boolean;
  powers text;
  by_grantor constant boolean := current_setting('server_version_num')::int >= 160000;
  other  record;
  wanted record;
  allowed constant integer := coalesce(connections, logins.connections_of(kind));
begin
  if login like 'vw\_%' or login like 'pg\_%' or login = current_user then
    raise exception 'the name % is reserved', login using errcode = 'reserved_name';
  end if;
  -- if two change one login at once, the second waits
  perform pg_advisory_xact_lock(hashtextextended('venuewatch.login', 0));
  if to_regrole(quote_ident(login)) is null then
    execute format('create role %I', login);
  end if;

  -- attributes that were given on purpose are not removed silently
  select concat_ws(', ',
    case when rolsuper then 'superuser' end,
    case when rolcreaterole then 'createrole' end,
    case when rolcreatedb then 'createdb' end,
    case when rolbypassrls then 'bypassrls' end,
    case when rolreplication and kind <> 'replica' then 'replication' end)
  into powers
  from pg_roles
  where rolname = login;
  if powers <> '' then
    raise exception 'the role % has attributes that a login must not have: %', login, powers
      using errcode = 'reserved_name';
  end if;

  if kind = 'replica' then
    execute format('alter role %I replication', login);
  end if;
  execute format('alter role %I login inherit connection limit %s password %L',
    login, allowed, verifier);
  -- from PostgreSQL 16 on, several roles may have granted one role, and each grant is revoked separately
  for other in
    select
      format('revoke %I from %I', r.rolname, login)
        || case when by_grantor then format(' granted by %I', grantor.rolname) else '' end as statement,
      not by_grantor or pg_has_role(grantor.oid, 'usage') as may_revoke
    from pg_auth_members m
    join pg_roles r on r.oid = m.roleid
    -- before PostgreSQL 16 it may have been dropped
    left join pg_roles grantor on grantor.oid = m.grantor
    where m.member = to_regrole(quote_ident(login))
      and r.rolname like 'vw\_%'
      and r.rolname is distinct from logins.role_of(kind)
  loop
    if not other.may_revoke then
      raise exception '% would keep the rights of another role', login
        using errcode = 'dependent_objects_still_exist', hint = other.statement;
    end if;
    execute other.statement;
  end loop;
  if logins.role_of(kind) is not null then
    execute format('grant %I to %I', logins.role_of(kind), login);
  end if;

  delete from venuewatch.probe_login l where l.login = keep.login;
  if kind = 'probe' then
    insert into venuewatch.probe_login (login, region) values (keep.login, keep.region);
  end if;

  for wanted in
    select s.setting
    from logins.setting s
    where logins.may_set(s.setting)
    group by s.setting
  loop
    execute format('alter role %I reset %I', login, wanted.setting);
  end loop;
  for wanted in
    select s.setting, s.written
    from logins.setting s
    where s.kind = keep.kind and logins.may_set(s.setting)
    order by s.setting
  loop
    execute format('alter role %I set %I = %s', login, wanted.setting, wanted.written);
  end loop;

  -- one of that name that belongs to something else is not given away
  has_schema := to_regnamespace(quote_ident(login)) is not null;
  if own_schema and has_schema and not has_schema_privilege(login, login, 'create') then
    raise exception 'there is a schema %, in which others work', login using errcode = 'duplicate_schema';
  end if;
  if own_schema and not has_schema then
    execute format('create schema %I', login);
    execute format('grant create on schema %I to %I', login, login);
    -- whom it lets read its tables must be let in, too
    execute format('grant usage on schema %I to %I with grant option', login, login);
  end if;
  if kind = 'analyst' and (own_schema or has_schema and has_schema_privilege(login, login, 'create')) then
    execute format('alter role %I reset default_transaction_read_only', login);
  end if;
  return allowed;
end;
$$;

-- The statements that a superuser must still run for a login, because its creator may not: settings that need one, and
-- remaining settings of another kind. In order. Volatile, so that the statement that created the login sees it.
create function logins.left_to_superuser(login name, kind text) returns text[]
language sql volatile
return (
  select coalesce(
    array_agg(
      case when s.value is null then format('alter role %I reset %I', r.rolname, one.setting)
      else format('alter role %I set %I = %s', r.rolname, s.setting, s.written) end
      order by one.setting
    ),
    '{}'
  )
  from pg_roles r
  cross join (select distinct setting from logins.setting) one
  left join logins.setting s on s.setting = one.setting and s.kind = left_to_superuser.kind
  left join unnest(r.rolconfig) has (text) on starts_with(has.text, one.setting || '=')
  where r.rolname = left_to_superuser.login
    and not logins.may_set(one.setting)
    and has.text is distinct from s.setting || '=' || s.value
);

revoke execute on all routines in schema logins from public;

-- The same settings for people who log in as vw_analyst itself. Only in this database, because concurrent migrations of
-- several databases would all write a server-wide setting. If an administrator created the roles, the migrating user
-- may not alter them.
do $$
declare
  wanted record;
begin
  for wanted in
    select s.setting, s.written
    from logins.setting s
    join pg_roles me on me.rolname = current_user
    where s.kind = 'analyst' and logins.may_set(s.setting)
      and (
        me.rolsuper
        or me.rolcreaterole
          and (
            current_setting('server_version_num')::int < 160000 or pg_has_role('vw_analyst', 'usage with admin option')
          )
      )
    order by s.setting
  loop
    execute format(
      'alter role vw_analyst in database %I set %I = %s', current_database(), wanted.setting, wanted.written
    );
  end loop;
end;
$$;
