-- What changed, in the order in which it was decided, for clients that follow changes (/v1/events). Written in the transaction that
-- decides, always under the lock of the clock's row, so numbers are committed in their order: who has read one has missed none before it.
create table change_event (
  change_id    bigint generated always as identity primary key,
  -- the instant that was decided
  at           timestamptz not null,
  recorded_at  timestamptz not null,
  kind         text not null check (kind in ('venue', 'component', 'opened', 'escalated', 'closed', 'retracted')),
  venue_id     smallint not null references venue,
  -- null: the venue as a whole
  component_id integer references component,
  -- of an incident: its severity
  state        state not null,
  -- Of an incident; null: a state. Copied, so that what clients were sent never depends on what became of the incident.
  slug         text,
  started_at   timestamptz,
  check ((component_id is null) = (kind = 'venue')),
  check ((slug is null) = (kind in ('venue', 'component'))),
  check ((slug is null) = (started_at is null))
);
