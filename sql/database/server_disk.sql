-- What fills the disk of a server, and whether its WAL reaches the archive. One row {archive_failing, archived_at,
-- database_bytes, wal_bytes, slots}. The first two are null where nothing is archived; `database_bytes` is null on the
-- embedded database, where the sum would keep everybody waiting.
select
  case when a.on then coalesce(s.last_failed_time > coalesce(s.last_archived_time, '-infinity'), false) end
    as archive_failing,
  case when a.on then coalesce(s.last_archived_time, s.stats_reset) end as archived_at,
  case when not is_embedded() then pg_database_size(current_database())::float8 end as database_bytes,
  api.wal_bytes()::float8 as wal_bytes,
  -- [{slot, bytes}]: WAL that is kept for a replica
  (
    select coalesce(
      jsonb_agg(jsonb_build_object('slot', r.slot_name, 'bytes', pg_wal_lsn_diff(w.lsn, r.restart_lsn)::float8)), '[]'
    )
    from pg_replication_slots r
    cross join (
      select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end as lsn
    ) w
    where r.restart_lsn is not null
  ) as slots
from (select current_setting('archive_mode') <> 'off' as on) a
cross join pg_stat_archiver s
