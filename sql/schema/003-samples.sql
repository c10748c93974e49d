-- One measurement: a component, seen from a region, in a slot. All that is exact rests on this table; the rest is
-- derived.
--
-- The key is the scheduled slot, not the instant of measuring, so that a batch may be sent twice.
-- No foreign keys: record_samples() is the only way in, and it joins the tables that they would point to.
-- Columns stand by size, widest first, which saves the padding (about 8 bytes a row).
create table sample (
  ts                     timestamptz not null,
  -- height of the chain, on endpoints that read one
  head                   bigint,
  -- until when the server's certificate is valid, where a TLS connection was opened in this slot
  certificate_expires_at timestamptz,
  component_id           integer not null,
  -- First byte sent to last byte received; for ws:conn, the time to open. Whole microseconds, since integers
  -- compress to two thirds of what reals take. Null where there was no complete answer: 0 would claim an instant one.
  latency_us             integer check (latency_us >= 0),
  dns_us                 integer check (dns_us >= 0),
  connect_us             integer check (connect_us >= 0),
  tls_us                 integer check (tls_us >= 0),
  first_byte_us          integer check (first_byte_us >= 0),
  -- streams: data frames within the slot, longest silence that touches it, age of the newest event by the venue's clock
  messages               integer check (messages >= 0),
  quiet_ms               integer check (quiet_ms >= 0),
  event_age_ms           integer,
  -- streams whose frames are numbered: how often within the slot a number was not the one that follows
  sequence_gaps          integer check (sequence_gaps >= 0),
  -- Where head is not null: the probe's clock less that of the venues, as it was known then, and the largest error of
  -- this; null while too few of them agreed. Heads are compared between probes.
  clock_error_ms         integer,
  clock_error_within_ms  integer check (clock_error_within_ms >= 0),
  -- Whole seconds, rounded up, from the slot until this database had the sample. The engine decides an instant by what
  -- was known then, so a replay needs this to see the same. Seconds compress to a fraction of an instant's size.
  received_after_s       integer not null default 0,
  fault                  fault,
  region_id              smallint not null,
  http_status            smallint,
  -- how late the slot's turn came; null within fifty milliseconds of its instant
  late_ms                smallint check (late_ms > 0),
  good                   boolean not null,
  -- REST: whether the connection was opened for this request; null for streams
  fresh                  boolean,
  -- The venue prevented this slot: it had told us to wait, or its socket was down. It failed, with the fault that
  -- prevented it. Null: it was measured.
  unserved               boolean,
  -- The venue's words when it refused a stream: one line of at most 200 characters, without control characters
  -- (probe/010-record-samples.sql). They stand on every sample of such a stream, so that an incident that is computed
  -- again from the samples has the same words; equal ones compress to nearly nothing.
  refusal                text,
  check (good = (fault is null))
);

-- An hour a chunk on the embedded database, where compressing a day at once would stall every client for six seconds;
-- a day on a server, where planning costs 0.3 ms a chunk.
select create_hypertable(
  'sample',
  by_range('ts', case when is_embedded() then interval '1 hour' else interval '1 day' end),
  create_default_indexes => false
);

-- the key, and the way in for every question about one series
create unique index sample_key on sample (component_id, region_id, ts);
-- "everything since": the engine's window and the refresh of the newest minutes, eight times slower without it.
-- Not BRIN: it degrades tenfold once 0.05 % of the rows come late.
create index sample_ts on sample (ts);

alter table sample set (
  timescaledb.compress,
  timescaledb.compress_segmentby = 'component_id, region_id',
  timescaledb.compress_orderby = 'ts desc'
);
