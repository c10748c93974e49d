-- What is watched, and from where. Synced from the registry file at every deploy.
-- A venue, component or region that leaves the file is unpublished, never deleted: history keeps its meaning.

create type fault as enum (
  'dns', 'connect', 'tls', 'timeout', 'http', 'blocked', 'limited', 'halted', 'body', 'handshake', 'closed', 'stall'
);

create type state as enum ('operational', 'degraded', 'outage', 'unknown');

create table region (
  region_id smallint generated always as identity primary key,
  region    text not null unique,
  name      text not null,
  -- place in the registry; 1 is the primary region, the default of the API
  position  smallint not null,
  published boolean not null default true
);

create table venue (
  venue_id      smallint generated always as identity primary key,
  venue         text not null unique,
  name          text not null,
  category      text not null,
  symbol        text,
  quote         text,
  chain         text,
  official_kind text,
  official_page text,
  position      smallint not null,
  published     boolean not null default true
);

create table component (
  component_id  integer generated always as identity primary key,
  venue_id      smallint not null references venue,
  -- rest:<name>, ws:<name>, or ws:conn for the socket itself
  component     text not null check (component ~ '^(rest|ws):[a-z]+$'),
  kind          text not null generated always as (split_part(component, ':', 1)) stored,
  label         text not null,
  target        text,
  cadence_ms    integer not null check (cadence_ms > 0),
  -- streams only: silence beyond this is a stall
  stall_after_ms integer,
  position      smallint not null,
  published     boolean not null default true,
  unique (venue_id, component)
);

-- Which build of the probe speaks for a region, and when it last did.
create table probe (
  region_id  smallint primary key references region,
  version    text not null,
  started_at timestamptz not null,
  seen_at    timestamptz not null,
  -- slots since the start that were not measured through the probe's own trouble or by courtesy to a venue
  unmeasured bigint not null
);
