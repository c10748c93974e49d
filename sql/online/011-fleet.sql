-- What schema/011-fleet.sql does, where there are samples. There each of its checks would read every sample that is not yet compressed, under a
-- lock that stops all who read or write them: five seconds for a day of forty million in eight. Samples that are there have nulls in these
-- columns, so the checks are not proven on them (`not valid`). They hold for every row from now on.
alter table sample add column late_ms smallint;
alter table sample add column fresh boolean;
alter table sample add column certificate_expires_at timestamptz;
alter table sample add column sequence_gaps integer;
alter table sample add column clock_error_ms integer;
alter table sample add column clock_error_within_ms integer;
alter table sample add constraint sample_late_ms_check check (late_ms > 0) not valid;
alter table sample add constraint sample_sequence_gaps_check check (sequence_gaps >= 0) not valid;
alter table sample add constraint sample_clock_error_within_ms_check check (clock_error_within_ms >= 0) not valid;

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
