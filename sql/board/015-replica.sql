-- On a replica: where the primary's log ended in its last message, and when that was by its clock. No row without a
-- primary.
--
-- Only members of pg_read_all_stats can see this, so it runs with the rights of vw_definer (roles.sql). It returns two
-- values and no personal data.
create function api.heard_of_primary() returns table (log_end pg_lsn, said_at timestamptz)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select r.latest_end_lsn, r.last_msg_send_time from pg_stat_wal_receiver r;
end;
