-- What lets a reader check the engine afterwards.

-- By which rules and by which build instants were decided: a row for each time that one of them changed. It holds until the
-- next row does.
create table rules_in_force (
  holds_from timestamptz primary key,
  version    text not null,
  rules      jsonb not null
);

alter table engine_clock
  -- while the engine catches up on more than it may be silent for: since when nothing that it says is current
  add column silent_since timestamptz;
