-- Makes vw_core the owner of what a schema file may alter, because the file runs as vw_core. Tables that core does not
-- maintain are given back in the same transaction (not_yet_owned.sql).
do $$
declare
  lent text;
begin
  for lent in
    select format(
      'alter %s venuewatch.%I owner to vw_core',
      case when ca.view_name is null then 'table' else 'materialized view' end,
      c.relname
    )
    from pg_class c
    left join timescaledb_information.continuous_aggregates ca
      on ca.view_schema = 'venuewatch' and ca.view_name = c.relname
    where c.relnamespace = 'venuewatch'::regnamespace
      and c.relkind in ('r', 'v')
      and c.relname not in ('migration', 'definition')
      and c.relowner <> 'vw_core'::regrole
    union all
    select format('alter routine %s owner to vw_core', p.oid::regprocedure)
    from pg_proc p
    where p.pronamespace = 'venuewatch'::regnamespace
      and p.proname not in ('definitions_fingerprint', 'is_embedded')
      and p.proowner <> 'vw_core'::regrole
    union all
    select format('alter type %s owner to vw_core', t.oid::regtype)
    from pg_type t
    where t.typnamespace = 'venuewatch'::regnamespace and t.typtype = 'e' and t.typowner <> 'vw_core'::regrole
  loop
    execute lent;
  end loop;
end;
$$;
