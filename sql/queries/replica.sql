-- How far is this database behind the one that it replicates? One row
-- {is_replica, receiving, paused, behind_bytes, behind_seconds, silent_seconds}; on a primary all but the first say nothing.
--
-- A replica knows when the newest transaction that it has replayed was committed: `silent_seconds` ago. That is its lag while
-- somebody writes, as the engine does every two seconds. Where all that was received has been replayed, and the connection
-- stands, nobody has written since, and it is not behind at all. Without the connection it cannot know, and may be behind by
-- as much. After a restart it remembers no transaction until it replays one; the engine's last tick is in the tables.
select
  r.is_replica,
  r.receiving,
  r.paused,
  greatest(pg_wal_lsn_diff(r.received, r.replayed), 0) as behind_bytes,
  case
    when not r.is_replica then null
    -- not <=: who has just connected is sent the begun segment again, from its start
    when r.receiving and r.received = r.replayed then 0
    else r.silent_seconds
  end as behind_seconds,
  r.silent_seconds
from (
  select
    pg_is_in_recovery() as is_replica,
    -- without special rights one sees that there is a receiver, and no more of it
    exists (select from pg_stat_wal_receiver) as receiving,
    case when pg_is_in_recovery() then pg_get_wal_replay_pause_state() <> 'not paused' else false end as paused,
    pg_last_wal_receive_lsn() as received,
    pg_last_wal_replay_lsn() as replayed,
    greatest(
      extract(epoch from clock_timestamp() - coalesce(pg_last_xact_replay_timestamp(), (select k.ticked_at from api.clock k))),
      0
    ) as silent_seconds
) r
