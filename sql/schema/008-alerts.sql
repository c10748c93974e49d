-- Alerts: what happened, whom to tell, and what became of each delivery.

-- Events that subscribers hear of, written in the transaction that decides them: none can be lost, and none is sent
-- that was not decided. An event is about an incident, with at most one of each kind, or about one direction of a line
-- of transfers.
create table alert_event (
  event_id        bigint generated always as identity primary key,
  incident_id     bigint references incident,
  kind            text not null
  check (kind in ('opened', 'escalated', 'closed', 'transfer_paused', 'transfer_resumed', 'transfer_unknown')),
  severity        state,
  -- the instant that was decided; of transfers, the reading that showed it
  at              timestamptz not null,
  recorded_at     timestamptz not null,
  -- the engine had been away, and came to this instant much later
  late            boolean not null,
  dispatched_at   timestamptz,
  -- its incident was retracted before it had left
  dropped_at      timestamptz,
  line_id         integer references transfer_line,
  direction       text check (direction in ('deposit', 'withdrawal')),
  -- the first reading that showed the pause
  paused_since    timestamptz,
  -- the venue's words about the present state; null: there are none
  because         text,
  -- of the end of a pause: the event that told of its beginning
  paused_event_id bigint,
  unique (incident_id, kind),
  check ((kind like 'transfer%') = (incident_id is null)),
  check ((incident_id is null) = (severity is null)),
  check ((incident_id is null) = (line_id is not null and direction is not null and paused_since is not null)),
  check ((kind in ('transfer_resumed', 'transfer_unknown')) = (paused_event_id is not null))
);

-- the newest news of incidents
create index alert_event_of_incident on alert_event (event_id) where incident_id is not null;
create index alert_event_waiting on alert_event (event_id) where dispatched_at is null and dropped_at is null;

-- Whom to tell, and of what. One that was removed stays, without what is secret: its deliveries are part of the log.
create table channel (
  channel_id     integer generated always as identity primary key,
  format         text not null
  check (
    format in ('native', 'chat', 'paging', 'telegram', 'discord', 'ntfy', 'teams', 'template', 'mail')
  ),
  -- a key of the paging service works in one of its regions only
  service_region text check (service_region in ('us', 'eu')),
  -- where it goes, as it may be shown: of a URL the host and the end, of an e-mail the recipient
  shown_as       text not null,
  description    text not null,
  -- The URL or the key, and what else the format needs, encrypted: anybody who has it can post there. Null once the
  -- channel is removed.
  destination    bytea,
  -- what a native channel signs with, encrypted; for as long as a rotation lasts, the one before signs too
  secret         bytea,
  former_secret  bytea,
  former_until   timestamptz,
  severity_floor state not null check (severity_floor in ('degraded', 'outage')),
  -- null: all
  venues         text[],
  categories     text[],
  -- quiet: it hears of incidents during announced maintenance only if they outlast it
  on_maintenance text not null default 'alert' check (on_maintenance in ('alert', 'quiet')),
  -- assets whose pauses of deposits and withdrawals it hears of; null: none
  transfers      text[],
  -- what had happened by then was not for it
  after_event_id bigint not null,
  created_at     timestamptz not null,
  removed_at     timestamptz,
  -- since when nothing is sent, and who or what switched it off; null: it is on
  off_at         timestamptz,
  off_cause      text check (off_cause in ('operator', 'failures', 'gone')),
  failures       integer not null default 0,
  -- the receiver takes no more before then
  free_at        timestamptz not null default '-infinity',
  -- when something was last delivered: what fails meanwhile elsewhere is no trouble of ours
  delivered_at   timestamptz,
  check ((format = 'paging') = (service_region is not null)),
  check ((off_at is null) = (off_cause is null)),
  check ((former_secret is null) = (former_until is null)),
  check ((destination is null) = (removed_at is not null)),
  check (removed_at is not null or (format = 'native') = (secret is not null)),
  check (removed_at is null or (secret is null and former_secret is null))
);

-- One event for one channel, and how it goes. `event`: because it happened; `open`: because the channel asked for what
-- was open when it began or was switched on again, or what outlasted announced maintenance; `replay` and `test`:
-- because an operator asked.
create table delivery (
  delivery_id      bigint generated always as identity primary key,
  channel_id       integer not null references channel,
  -- null: a test
  event_id         bigint references alert_event,
  cause            text not null check (cause in ('event', 'open', 'replay', 'test')),
  state            text not null check (state in ('due', 'delivered', 'failed', 'skipped', 'dropped')),
  -- why it was skipped or dropped
  reason           text,
  created_at       timestamptz not null,
  -- not to be sent before then
  due_at           timestamptz not null,
  -- who is sending it, and until when nobody else does
  claimed_by       text,
  claimed_until    timestamptz,
  first_claimed_at timestamptz,
  -- attempts that the receiver failed
  failures         integer not null default 0,
  -- when its state was settled; of one that was delivered, when the answer was there
  ended_at         timestamptz,
  -- Time from the first bad sample to the delivery of an opening; null for other events and for backfills. /v1/notify
  -- reads a hundred thousand of them at a time, and joining each with its incident would take six times as long.
  told_after_ms    bigint check (told_after_ms >= 0),
  check ((event_id is null) = (cause = 'test')),
  check ((ended_at is null) = (state = 'due')),
  check ((claimed_by is null) = (claimed_until is null)),
  check ((reason is not null) = (state in ('skipped', 'dropped'))),
  check (told_after_ms is null or (state = 'delivered' and cause = 'event'))
);

-- The line in front of each channel, in the order in which things happened. An event stands there once.
create unique index delivery_once on delivery (channel_id, event_id) where cause in ('event', 'open');
create index delivery_line on delivery (channel_id, event_id) where state = 'due' and cause in ('event', 'open');
create index delivery_under_way on delivery (channel_id, claimed_until)
where state = 'due' and cause in ('event', 'open') and claimed_until is not null;
create index delivery_quiet on delivery (event_id) where state = 'skipped' and reason = 'announced maintenance';
create index delivery_due_by_hand on delivery (delivery_id) where state = 'due' and cause in ('replay', 'test');
create index delivery_of_event on delivery (event_id, channel_id);
create index delivery_told on delivery (ended_at) include (told_after_ms, event_id) where told_after_ms is not null;
create index delivery_of_channel on delivery (channel_id, delivery_id);

-- Every time that one was sent, or was to be. Written before it leaves: one that nobody ended is known to have been
-- begun.
create table delivery_attempt (
  attempt_id  bigint generated always as identity primary key,
  delivery_id bigint not null references delivery on delete cascade,
  -- as of its delivery: which one was a channel's newest would be long to find otherwise
  channel_id  integer not null references channel,
  sent_by     text not null,
  started_at  timestamptz not null,
  ended_at    timestamptz,
  -- delivered: an answer of 2xx in time; refused: another one; timeout; unreachable: no answer; unsafe: an address that
  -- is not sent to; ours: it is not known that the receiver did anything wrong; lost: who sent it ended before the
  -- answer was recorded
  result      text check (result in ('delivered', 'refused', 'timeout', 'unreachable', 'unsafe', 'ours', 'lost')),
  status      integer,
  error       text,
  duration_ms integer,
  -- its beginning
  answer      text,
  check ((ended_at is null) = (result is null))
);

create index delivery_attempt_of on delivery_attempt (delivery_id, attempt_id);
create index delivery_attempt_newest on delivery_attempt (channel_id, attempt_id);

-- Where readers find the service, as core was started with it. Alerts link to it, also those that an operator sends
-- from a shell whose own settings say nothing of it, or something else.
create table service_address (
  -- there is one row
  one_row  boolean primary key default true check (one_row),
  -- BASE_URL and SITE_URL, without a slash at the end
  base_url text not null,
  site_url text not null,
  set_at   timestamptz not null
);

-- From what the ids in feeds are made. A reader knows an entry by its id alone, so the id must differ from those of
-- every other installation and never change: neither with BASE_URL, nor when the service moves to another database.
create table feed_identity (
  -- there is one row
  one_row  boolean primary key default true check (one_row),
  identity uuid not null default gen_random_uuid(),
  -- as of when a feed without entries is
  made_at  timestamptz not null default now()
);

insert into feed_identity default values;
