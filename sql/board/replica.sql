-- How far this database is behind the primary that it replicates. One row {is_replica, receiving, paused, behind_bytes,
-- behind_seconds, silent_seconds}; on a primary only the first is meaningful.
--
-- A replica knows when its newest replayed transaction was committed: `silent_seconds` ago. While the primary writes,
-- as the engine does every two seconds, that is the lag. If nothing is written, this age grows without lag; then the
-- primary's messages count, which come at least every few seconds and say where its log ends. A replica that has
-- replayed up to there was not behind at that time. On a slow or silently broken connection both get older.
--
-- After a restart no transaction time is known until one is replayed; then the engine's last tick is used.
select
  r.is_replica,
  r.receiving,
  r.paused,
  greatest(pg_wal_lsn_diff(greatest(r.received, r.log_end), r.replayed), 0) as behind_bytes,
  case
    when not r.is_replica then null
    when r.receiving and r.replayed >= r.log_end then least(r.silent_seconds, r.unheard_seconds)
    else r.silent_seconds
  end as behind_seconds,
  r.silent_seconds
from (
  select
    pg_is_in_recovery() as is_replica,
    exists (select from pg_stat_wal_receiver) as receiving,
    case when pg_is_in_recovery() then pg_get_wal_replay_pause_state() <> 'not paused' else false end as paused,
    pg_last_wal_receive_lsn() as received,
    pg_last_wal_replay_lsn() as replayed,
    h.log_end,
    greatest(extract(epoch from clock_timestamp() - h.said_at), 0) as unheard_seconds,
    greatest(
      extract(
        epoch from clock_timestamp() - coalesce(pg_last_xact_replay_timestamp(), (select k.ticked_at from api.clock k))
      ),
      0
    ) as silent_seconds
  from (select) one
  left join api.heard_of_primary() h on true
) r
