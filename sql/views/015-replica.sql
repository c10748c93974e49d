-- What the primary said last, to a replica: where its log ended, and when that was, by its clock. No row where nobody
-- speaks.
--
-- Only a member of pg_read_all_stats sees that, so it runs with the rights of vw_definer (roles.sql): two values, and
-- nothing of anybody.
create function api.heard_of_primary() returns table (log_end pg_lsn, said_at timestamptz)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select r.latest_end_lsn, r.last_msg_send_time from pg_stat_wal_receiver r;
end;
