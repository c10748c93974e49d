-- What venues say about themselves: when their feeds could be read, and every notice in them.

-- When a feed could be read, and when not: a row for each unbroken run of readings that went alike.
create table feed_poll (
  feed_id   integer not null references feed,
  from_at     timestamptz not null,
  until_at    timestamptz not null,
  -- what went wrong, the newest of the run; null where it was read and understood whole
  problem     text,
  -- what was posted since then was seen; feeds with a history reach back behind the run
  covers_from timestamptz,
  primary key (feed_id, from_at),
  check (until_at >= from_at),
  check ((problem is null) = (covers_from is not null)),
  check (covers_from <= until_at)
);

-- A notice, as the feed had it last. What a venue takes down stays here.
create table notice (
  notice_id    bigint generated always as identity primary key,
  feed_id    integer not null references feed,
  -- the list of the feed that it stands in
  scope        text not null,
  -- name that the venue gave it; where it gives none, what it says and since when we see it
  external_id  text not null check (length(external_id) between 1 and 250),
  kind         text not null check (kind in ('incident', 'maintenance')),
  title        text not null,
  url          text,
  -- the venue's own words
  status       text not null,
  impact       text,
  -- by the venue's clock; where it does not say, when we saw it first
  started_at   timestamptz not null,
  -- when it was published; where the feed does not tell, the newest reading that had it not yet; null where none was
  -- just before
  posted_at    timestamptz,
  resolved_at  timestamptz,
  -- the end of a maintenance by the venue's latest plan, if it gave a plausible one
  planned_end_at timestamptz,
  -- The window of a maintenance as it was announced in advance: only what a reading saw before this start, and an end
  -- that a reading saw before the end planned until then. Null: nothing was announced in time, or it was called off. A
  -- notice that was taken down keeps it: the list without it may have been a stale copy.
  window_from  timestamptz,
  window_until timestamptz,
  -- the first reading that saw this start
  announced_at timestamptz,
  -- nothing more is to come
  over         boolean not null,
  -- names of the venue's own components
  subjects     text[] not null,
  -- the entry itself, JSON, cut after 16,384 characters
  raw          text not null,
  first_seen_at timestamptz not null,
  -- while it is in the feed, the reading that last wrote this row; view api.notice has the newest
  last_seen_at timestamptz not null,
  -- the first reading that had it no more; null while it is in the feed
  left_at      timestamptz,
  -- it left although the feed reaches back so far, or although it was not over
  vanished     boolean not null default false,
  -- It was read before its feed moved to another address or vendor, and not since. There it may have another id: a
  -- notice of the same kind, title and time continues it.
  before_move  boolean not null default false,
  unique (feed_id, scope, external_id),
  check (left_at is not null or not vanished),
  check ((window_from is null) = (announced_at is null)),
  check (announced_at < window_from),
  check (window_until > window_from)
);

create index notice_started on notice (feed_id, started_at);
create index notice_seen on notice (feed_id, first_seen_at);
create index notice_moved on notice (feed_id, kind) where before_move;
create index notice_listed on notice (feed_id) where left_at is null;
create index notice_window on notice (feed_id, window_from) where window_from is not null;

-- How it came to that: a row when a notice was seen first, and one for each reading that showed it otherwise, at that
-- reading. What changed and changed again between two readings is in `raw` alone.
create table notice_change (
  notice_id   bigint not null references notice,
  at          timestamptz not null,
  kind        text not null,
  status      text not null,
  impact      text,
  title       text not null,
  started_at  timestamptz not null,
  resolved_at timestamptz,
  planned_end_at timestamptz,
  subjects    text[] not null,
  vanished    boolean not null,
  primary key (notice_id, at)
);
