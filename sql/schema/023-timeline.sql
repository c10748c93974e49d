-- A standby that is promoted begins a timeline of its own. With asynchronous replication it lacks the last transactions of its former primary, of
-- which receivers may have been told already. So the engine notes on which timeline it decides.

-- Eight hexadecimal digits. A restart and a recovery from a crash stay on their timeline; a promotion begins another, as does a restore of a base backup.
create function current_timeline() returns text
language sql stable
return left(pg_walfile_name(pg_current_wal_lsn()), 8);

-- One row.
create table timeline (
  only_row   boolean primary key default true check (only_row),
  timeline   text not null,
  -- when the engine came to it
  adopted_at timestamptz not null
);

insert into timeline (timeline, adopted_at) values (current_timeline(), '-infinity');
