-- What a fleet of several probes a region needs, and what else is known of a measurement.

-- How late the slot's turn came; null within fifty milliseconds of its instant, and in samples older than this column.
alter table sample add column late_ms smallint check (late_ms > 0);
-- REST: whether the connection was opened for this request. Null for streams.
alter table sample add column fresh boolean;
-- until when the certificate is valid that the server showed, where a TLS connection was opened in this slot
alter table sample add column certificate_expires_at timestamptz;
-- streams whose frames are numbered: how often within the slot a number was not the one that follows
alter table sample add column sequence_gaps integer check (sequence_gaps >= 0);
-- Where head is not null: the probe's clock less that of the venues, as it was known then, and how far off this may be; null
-- while too few of them agreed. Heads are compared between probes.
alter table sample add column clock_error_ms integer;
alter table sample add column clock_error_within_ms integer check (clock_error_within_ms >= 0);

-- A region may have several probes, each a row: it says which of them are alive, and what trouble of its own each has.
alter table probe drop constraint probe_pkey;
alter table probe
  -- the same after a restart in the same data directory
  add column process uuid not null default gen_random_uuid(),
  -- Until when it is believed to be alive, by this database's clock; -infinity once it has said goodbye.
  add column alive_until timestamptz not null default '-infinity',
  -- [{"kind", "since", "detail"}]: what of its own keeps it from measuring, or from measuring right
  add column troubles jsonb not null default '[]' check (jsonb_typeof(troubles) = 'array'),
  -- unmeasured slots by reason
  add column unmeasured_by jsonb not null default '{}' check (jsonb_typeof(unmeasured_by) = 'object'),
  -- its clock less that of the venues, and how far off this may be; null while too few of them agree
  add column clock_error_ms double precision,
  add column clock_error_within_ms double precision,
  add primary key (region_id, process),
  add check ((clock_error_ms is null) = (clock_error_within_ms is null));
alter table probe alter column process drop default;

-- Who measures what: in each region every venue of the registry is one probe's, or nobody's where it has no row.
create table watch (
  region_id smallint not null references region,
  venue_id  smallint not null references venue,
  process   uuid not null,
  primary key (region_id, venue_id)
);
