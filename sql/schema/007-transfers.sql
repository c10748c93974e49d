-- Which deposits and withdrawals venues declare open, by asset and network. A declared fact: it changes no vote, no
-- sample and no state.

-- What the registry names: assets, networks, and how venues spell them.
create table transfer_asset (
  asset     text primary key,
  name      text not null,
  -- place on the board
  position  smallint not null,
  published boolean not null default true
);

create table transfer_network (
  network   text primary key,
  name      text not null,
  published boolean not null default true
);

create table transfer_spelling (
  subject text not null check (subject in ('asset', 'network')),
  -- the venue's id, also of one that is not in the database; '': every venue
  venue   text not null default '',
  -- in small letters
  spelt   text not null,
  means   text not null,
  primary key (subject, venue, spelt)
);

-- The list of a venue, and how its reading goes. A venue that nobody can read has a reason in place of a kind.
create table transfer_source (
  venue_id         smallint primary key references venue,
  kind             text,
  because          text,
  published        boolean not null default true,
  -- not to be read before; a reader moves this on first, so that no two read at once
  due_at           timestamptz not null default '-infinity',
  -- claims in a row whose reading did not end, as of a feed
  unended_readings smallint not null default 0,
  -- the newest reading that was understood; null: none was
  read_at          timestamptz,
  -- what went wrong at the newest reading, of the whole list or of an entry; null: nothing
  problem          text,
  -- since when the whole list cannot be read or understood
  unreadable_since timestamptz,
  -- the latest time that the list gave itself, and when we last saw it move
  list_at          timestamptz,
  list_moved_at    timestamptz,
  check ((kind is null) = (because is not null)),
  check (unreadable_since is null or problem is not null)
);

-- Full addresses, which may contain keys of an operator. Only core may read them.
create table transfer_address (
  venue_id smallint primary key references transfer_source,
  address  text not null
);

-- An asset on a network, as one venue lists it.
create table transfer_line (
  line_id       integer generated always as identity primary key,
  venue_id      smallint not null references venue,
  asset         text not null,
  -- as the venue spells it; null: the venue says it by asset alone
  venue_network text,
  -- by the registry; null: the registry does not know this name
  network       text,
  first_seen_at timestamptz not null,
  -- since when the list lacks it; null: the newest one has it
  missing_since timestamptz,
  unique nulls not distinct (venue_id, asset, venue_network)
);

-- What a venue says of one direction of a line, since when, and what we make of it.
create table transfer_state (
  line_id         integer not null references transfer_line,
  direction       text not null check (direction in ('deposit', 'withdrawal')),
  -- as the newest reading has it
  declared        text not null check (declared in ('open', 'paused', 'unknown')),
  -- as shown: it differs while the venue changes its word too often
  state           text not null check (state in ('open', 'paused', 'unknown')),
  unstable        boolean not null default false,
  -- the venue's words, or ours where it is unknown; null: there are none
  because         text,
  -- The first reading that showed this state. A time in which it was unknown does not end a state.
  since           timestamptz not null,
  -- The state began at `since`, and what was before it is known; false once a piece of it is in transfer_span.
  begins          boolean not null default false,
  -- the last state that was shown and was not unknown, and since when
  known           text check (known in ('open', 'paused')),
  known_since     timestamptz,
  -- what is before it is in transfer_span: at most a day of the running state is not
  counted_to      timestamptz not null,
  -- when what is declared changed within the last hour
  flips           timestamptz[] not null default '{}',
  -- the alert that told of a pause whose end no alert has told; null: there is none
  paused_event_id bigint,
  primary key (line_id, direction),
  check ((known is null) = (known_since is null))
);

-- The states that are over, and the days of those that are not. Every piece lies within one UTC day, so that the
-- minutes of a day are a plain sum.
create table transfer_span (
  started_at timestamptz not null,
  ended_at   timestamptz not null,
  line_id    integer not null,
  direction  text not null,
  state      text not null,
  -- the state began here; the other pieces continue it, after midnight or after a time without readings
  begins     boolean not null,
  unstable   boolean not null,
  because    text,
  check (ended_at > started_at)
);

-- A change of a flag is rare: a month of all venues takes less than a day of one venue's samples. Chunks hold whole
-- days, so that no bucket of the roll-up lies in two of them.
select create_hypertable('transfer_span', by_range('started_at', interval '30 days'), create_default_indexes => false);

create unique index transfer_span_key on transfer_span (line_id, direction, started_at);

-- Minutes of a day by state, from whole seconds. A day that nothing is known of has no row.
create materialized view transfer_day
with (
  timescaledb.continuous,
  timescaledb.materialized_only = true,
  timescaledb.create_group_indexes = false,
  timescaledb.chunk_interval = '1 year'
) as
select
  time_bucket('1 day', started_at) as day,
  line_id,
  direction,
  (sum(extract(epoch from ended_at - started_at)) filter (where state = 'open') / 60)::float8 as open_minutes,
  (sum(extract(epoch from ended_at - started_at)) filter (where state = 'paused') / 60)::float8 as paused_minutes,
  (sum(extract(epoch from ended_at - started_at)) filter (where state = 'unknown') / 60)::float8 as unknown_minutes,
  count(*) filter (where state = 'paused' and begins)::int as pauses
from transfer_span
group by 1, 2, 3
with no data;

create index transfer_day_by_line on transfer_day (line_id, direction, day desc);

-- The pieces of the window that is shown, added up: ninety days of all lines are eighty thousand rows of transfer_day,
-- and every answer would add up all of them.
create table transfer_past (
  line_id        integer not null references transfer_line,
  direction      text not null,
  open_minutes   float8 not null,
  paused_minutes float8 not null,
  pauses         integer not null,
  primary key (line_id, direction)
);

-- When this window starts.
create table transfer_window (
  -- there is one row
  only_row boolean primary key default true check (only_row),
  from_day timestamptz not null default '-infinity'
);

insert into transfer_window default values;
