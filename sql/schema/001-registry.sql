-- What is measured, and from where, as the registry file lists it (server/database/sync-registry.ts). A venue,
-- component or region that leaves the file is unpublished, never deleted: history keeps its meaning.

create type fault as enum (
  'dns', 'connect', 'tls', 'timeout', 'http', 'blocked', 'limited', 'halted', 'body', 'handshake', 'closed', 'stall',
  -- answers and streams whose own time stops, and chains whose heads do
  'stale'
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

-- A feed in which venues publish notices. Several venues may share one.
create table feed (
  feed_id         integer generated always as identity primary key,
  -- The feed's present address, or, if that contains more than an origin, a name in its place (feed_address). A feed
  -- that moves stays the same feed.
  api               text not null unique,
  kind              text not null,
  -- the page for people; must match the address that the feed states
  page              text,
  published         boolean not null default true,
  added_at          timestamptz not null default now(),
  -- not to be read before; a reader moves this on first, so that no two read at once
  due_at            timestamptz not null default '-infinity',
  -- the time that the feed gave itself, at the newest good reading
  feed_at           timestamptz,
  -- Claims in a row whose reading did not end. An answer may end the program that reads it, and the next one must not
  -- take it up at once (claim_feed.sql).
  unended_readings  smallint not null default 0
);

-- Full addresses of feeds that may contain keys. Only core may read them.
create table feed_address (
  feed_id integer primary key references feed,
  address   text not null
);

create table venue (
  venue_id           smallint generated always as identity primary key,
  venue              text not null unique,
  -- Ids that the venue had before. Requests and samples that name one of them are still accepted.
  former_ids         text[] not null default '{}',
  name               text not null,
  category           text not null,
  symbol             text,
  quote              text,
  chain              text,
  official_kind      text,
  official_page      text,
  feed_id          integer references feed,
  -- The words of the registry as patterns for `like`, in small letters. If several services share a feed, a notice is
  -- about this venue if its title or a component's name has one of them; null: every notice is.
  official_about     text[],
  -- what is not about anything that we measure; null: nothing
  official_not_about text[],
  -- {sources, checkedAt, until, endedAt, limits, blockedIn, edgeCacheMs}, of the entry; a field that it lacks is
  -- missing
  entry              jsonb not null default '{}',
  -- From then on (endedAt) it is not measured, and only its history is shown; null: no end is known. A column, because
  -- the board, the leases of the probes and the readers of feeds select by it.
  ends_at            timestamptz,
  position           smallint not null,
  published          boolean not null default true,
  -- Since when it is measured, and when the registry did not name it after that, or it had ended: then it was nobody's
  -- to measure. May lie in the future.
  watched_from       timestamptz not null default now(),
  unwatched          tstzmultirange not null default '{}'
);

create table component (
  component_id   integer generated always as identity primary key,
  venue_id       smallint not null references venue,
  -- rest:<name>, ws:<name>, or ws:conn for the socket itself
  component      text not null check (component ~ '^(rest|ws):[a-z]+$'),
  kind           text not null generated always as (split_part(component, ':', 1)) stored,
  label          text not null,
  -- the origin alone, since the rest of an address may contain keys
  target         text,
  cadence_ms     integer not null check (cadence_ms > 0),
  -- streams only: silence beyond this is a stall
  stall_after_ms integer,
  -- what stall_after_ms rests on, as the registry says
  stall_basis    text,
  -- from then on it is unknown, and nothing is concluded from its samples; null: no end is known
  ends_at        timestamptz,
  ends_because   text,
  position       smallint not null,
  published      boolean not null default true,
  -- as of its venue
  watched_from   timestamptz not null default now(),
  unwatched      tstzmultirange not null default '{}',
  unique (venue_id, component)
);

-- The versions of each component's entry. A component is judged only after it was good once by its present entry: until
-- then, an entry that is wrong here looks the same as a venue that is down.
create table component_entry (
  component_id integer not null references component,
  -- the first version has held forever
  holds_from   timestamptz not null,
  -- of its host, path, proof and subscription
  fingerprint  text not null,
  -- the instant at which a region first saw it good; null: none has
  good_at      timestamptz,
  primary key (component_id, holds_from)
);

-- Part of every fingerprint: without it, a reader of component_entry could guess a short key.
create table entry_salt (
  -- there is one row
  one_row boolean primary key default true check (one_row),
  salt    text not null default gen_random_uuid()::text || gen_random_uuid()
);

insert into entry_salt default values;

-- How many regions the registry published, and when. A minute goes by what held when it began.
create table regions_published (
  holds_from timestamptz primary key,
  holds_to   timestamptz not null,
  regions    integer not null
);

-- The same of each venue's components, without those that have ended by their entry, also in the future
-- (upkeep.store_components_published).
create table components_published (
  venue_id   smallint not null references venue,
  holds_from timestamptz not null,
  holds_to   timestamptz not null,
  rest       integer not null,
  -- and the socket
  streams    integer not null,
  primary key (venue_id, holds_from)
);
