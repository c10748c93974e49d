-- The other transactions that run in this database now; if $1 is not null, those of $1 that still run: {running}, an
-- array.
select
  array(
    select l.virtualxid
    from pg_locks l
    join pg_stat_activity a using (pid)
    where l.locktype = 'virtualxid'
      and a.datname = current_database()
      and a.backend_type = 'client backend'
      and l.pid <> pg_backend_pid()
      and ($1::text[] is null or l.virtualxid = any ($1))
    order by l.virtualxid
  ) as running
