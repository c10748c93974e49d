-- What the engine knows and has decided. Written by engine.tick() alone, in one transaction a tick.

-- One row: how far the engine has come. Everything it says is as of `ticked_at`.
create table engine_clock (
  only_row  boolean primary key default true check (only_row),
  ticked_at timestamptz not null,
  version   text not null
);

-- How one region sees one component. Rewritten every tick, so pages keep room for updates in place.
create table region_state (
  component_id integer not null references component,
  region_id    smallint not null references region,
  state        state not null,
  since        timestamptz not null,
  -- false: the newest sample is too old to be a vote
  reporting    boolean not null,
  samples      integer not null,
  bad          integer not null,
  -- bad samples in a row, up to the newest
  bad_run      integer not null,
  newest_at    timestamptz,
  newest_fault fault,
  p50_us       integer,
  -- fault -> count, within the window
  faults       jsonb not null,
  primary key (component_id, region_id)
) with (fillfactor = 50);

create table component_state (
  component_id integer primary key references component,
  state        state not null,
  -- the tick that confirmed this state
  since        timestamptz not null,
  reporting    smallint not null,
  quorum       smallint not null
) with (fillfactor = 50);

create table venue_state (
  venue_id smallint primary key references venue,
  state    state not null,
  since    timestamptz not null
) with (fillfactor = 50);

create table incident (
  incident_id       bigint generated always as identity primary key,
  -- given at opening, never changed: people link to it
  slug              text not null unique,
  component_id      integer not null references component,
  severity          state not null check (severity in ('degraded', 'outage')),
  peak_severity     state not null check (peak_severity in ('degraded', 'outage')),
  -- the first bad sample of the run that opened it
  started_at        timestamptz not null,
  opened_at         timestamptz not null,
  escalated_at      timestamptz,
  -- the last tick at which a quorum still saw it
  last_bad_at       timestamptz not null,
  closed_at         timestamptz,
  retracted_at      timestamptz,
  retraction_reason text,
  -- {opening, escalation, closing}: who voted what, on which samples, and who was not counted and why
  evidence          jsonb not null,
  check (started_at <= opened_at),
  check (closed_at >= opened_at),
  check ((retracted_at is null) = (retraction_reason is null))
);

-- At most one open incident a component, whatever the engine does.
create unique index incident_open on incident (component_id) where closed_at is null and retracted_at is null;
create index incident_started on incident (started_at desc, incident_id desc);
create index incident_component on incident (component_id, started_at desc);

-- Who may run the engine and the upkeep. A lease, not a session lock: on the embedded database all clients share one
-- session, and it would be granted to each of them.
create table leader (
  office     text primary key,
  holder     text not null,
  -- moves at every change of holder
  fence      bigint not null,
  expires_at timestamptz not null
);
