-- The progress of a move, stored in the target database, so that each step is recorded in its own transaction. It stays
-- there afterwards, as proof that everything was moved.
create schema moving;

create table moving.state (
  only_row    boolean primary key default true check (only_row),
  -- of the source database: its identity, and the state of move_source.sql
  identity    text not null,
  state       text not null,
  begun_at    timestamptz not null default now(),
  verified_at timestamptz,
  finished_at timestamptz
);

-- for each part that is moved by time: everything before this time is here
create table moving.done (
  part     text primary key,
  until_at timestamptz not null
);

-- what both databases had
create table moving.verified (
  part     text primary key,
  place    integer not null,
  rows     bigint not null,
  checksum text not null
);
