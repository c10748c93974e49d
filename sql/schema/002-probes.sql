-- Who measures, from where, and for which venues.

-- The region for which a login of a probe delivers samples (upkeep.require_region).
create table probe_login (
  login  name primary key,
  -- the registry may not have it yet
  region text not null
);

-- A region may have several probes, each a row: which of them are alive, and the troubles of each.
create table probe (
  region_id             smallint not null references region,
  -- the same after a restart in the same data directory
  process               uuid not null,
  version               text not null,
  started_at            timestamptz not null,
  seen_at               timestamptz not null,
  -- Until when it is believed to be alive, by this database's clock; -infinity once it has said goodbye.
  alive_until           timestamptz not null default '-infinity',
  -- slots since the start that were not measured, because of the probe's own trouble or out of courtesy to a venue
  unmeasured            bigint not null,
  -- the same by reason
  unmeasured_by         jsonb not null default '{}' check (jsonb_typeof(unmeasured_by) = 'object'),
  -- [{"kind", "since", "detail"}]: its own troubles that keep it from measuring, or from measuring right
  troubles              jsonb not null default '[]' check (jsonb_typeof(troubles) = 'array'),
  -- its clock less that of the venues, and the largest error of this; null while too few venues agree
  clock_error_ms        double precision,
  clock_error_within_ms double precision,
  -- as its operator says in VANTAGE; null: nothing was said
  vantage_name          text,
  vantage_place         text,
  vantage_network       text,
  -- fingerprint of its machine; null: unknown
  machine               text,
  primary key (region_id, process),
  check ((clock_error_ms is null) = (clock_error_within_ms is null)),
  check ((vantage_name is null) = (vantage_place is null) and (vantage_name is null) = (vantage_network is null))
);

-- Who measures what: in each region every venue of the registry is one probe's, or nobody's where it has no row.
create table venue_lease (
  region_id smallint not null references region,
  venue_id  smallint not null references venue,
  process   uuid not null,
  primary key (region_id, venue_id)
);

-- From when on all probes of a region ran on one machine, as they reported it: a row for each change, which holds until
-- the region's next row does.
create table region_vantage (
  region_id   smallint not null references region,
  -- Infinity: no tick has seen it yet. The tick that finds it gives it an instant after its own, so that it can be
  -- found again what a tick saw: a probe's report may be committed after the tick of a later instant.
  holds_from  timestamptz not null default 'infinity',
  reported_at timestamptz not null default clock_timestamp(),
  -- fingerprint of the machine; regions with the same one are one vantage; null: several machines, or unknown
  machine     text,
  -- what all probes of the region said about their place; null: nothing, or not the same
  name        text,
  place       text,
  network     text,
  primary key (region_id, holds_from)
);

-- The probes as ticks found them, because probes overwrite their own rows at any time. Of each the newest sign of life
-- before the tick, and those after it, which later ticks show. As JSON, so that it has every column of table probe.
create table shown_probe (
  region_id smallint not null,
  process   uuid not null,
  -- in whole milliseconds, as it is shown; no instant before this shows it
  seen_at   timestamptz not null,
  probe     jsonb not null,
  venues    integer not null,
  primary key (region_id, process, seen_at)
);
