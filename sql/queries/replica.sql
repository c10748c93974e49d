-- How far is this database behind the one that it replicates? One row
-- {is_replica, receiving, paused, behind_bytes, behind_seconds, silent_seconds}; on a primary all but the first say
-- nothing.
--
-- A replica knows when the newest transaction that it has replayed was committed: `silent_seconds` ago. While somebody
-- writes, as the engine does every two seconds, that is its lag. When nobody writes, the age grows without any lag;
-- then there is what the primary says every few seconds at the least: where its log ends. A replica that has replayed
-- up to there was not behind when that was said. A connection that is slow, or cut without a word, makes both older.
--
-- After a restart no transaction is remembered until one is replayed; the engine's last tick is in the tables.
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
