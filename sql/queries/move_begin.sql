-- Where a move keeps how far it has come: in the database that it fills, so that each step is noted in the transaction
-- that did it. It stays there afterwards, to tell that all is there.
create schema moving;

create table moving.state (
  only_row    boolean primary key default true check (only_row),
  -- of the database that is read: move_identity.sql, and the state of move_source.sql
  identity    text not null,
  state       text not null,
  begun_at    timestamptz not null default now(),
  verified_at timestamptz,
  finished_at timestamptz
);

-- Of each part that is moved by time: before when all of it is here.
create table moving.done (
  part     text primary key,
  until_at timestamptz not null
);

-- What both sides had.
create table moving.verified (
  part     text primary key,
  place    integer not null,
  rows     bigint not null,
  checksum text not null
);
