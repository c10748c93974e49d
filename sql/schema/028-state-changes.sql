-- The states that venues and components had, decided instant by instant: a row for each time from one change to the
-- next. Written by the engine in the transaction that decides. change_event has the same for clients that follow it,
-- for a day.
create table state_change (
  venue_id     smallint not null references venue,
  -- null: the venue as a whole
  component_id integer references component,
  state        state not null,
  started_at   timestamptz not null,
  -- null: it still has it
  ended_at     timestamptz,
  -- when that was decided: later than it started, if the engine had been away
  recorded_at  timestamptz not null,
  unique nulls not distinct (venue_id, component_id, started_at)
);
-- a subject has one state at a time
create unique index state_change_open on state_change (component_id, venue_id) nulls not distinct where ended_at is null;

-- what came before is not known as exactly
insert into state_change (venue_id, state, started_at, recorded_at)
select s.venue_id, s.state, s.since, s.since
from venue_state s;
insert into state_change (venue_id, component_id, state, started_at, recorded_at)
select c.venue_id, s.component_id, s.state, s.since, s.since
from component_state s
join component c using (component_id);
