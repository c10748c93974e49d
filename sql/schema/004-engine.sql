-- What the engine knows and has decided. Written by engine.tick() alone, in one transaction a tick, except for what
-- says otherwise.

-- Who may run the engine and the upkeep. A lease, not a session lock: on the embedded database all clients share one
-- session, and it would be granted to each of them.
create table leader (
  office     text primary key,
  holder     text not null,
  -- moves at every change of holder
  fence      bigint not null,
  expires_at timestamptz not null
);

-- A standby that is promoted begins a timeline of its own. With asynchronous replication it lacks the last transactions
-- of its former primary, of which receivers may have been told already. So the engine notes on which timeline it
-- decides.
--
-- Eight hexadecimal digits. A restart and a recovery from a crash stay on their timeline; a promotion begins another,
-- as does a restore of a base backup.
create function current_timeline() returns text
language sql stable
return left(pg_walfile_name(pg_current_wal_lsn()), 8);

create table timeline (
  -- there is one row
  only_row   boolean primary key default true check (only_row),
  timeline   text not null,
  -- when the engine came to it
  adopted_at timestamptz not null
);

insert into timeline (timeline, adopted_at) values (current_timeline(), '-infinity');

-- How far the engine has come: everything that it says is as of `ticked_at`. There is at most one row.
create table engine_clock (
  only_row        boolean primary key default true check (only_row),
  ticked_at       timestamptz not null,
  version         text not null,
  -- after this much silence nothing that the engine said is shown as current
  silent_after_ms integer,
  -- while the engine catches up on more than it may be silent for: since when nothing that it says is current
  silent_since    timestamptz,
  -- the boundary for which typical latencies were computed last
  typical_for     timestamptz,
  -- The published instant is this many milliseconds after the last tick: each change to the published past moves it on,
  -- so that two bodies of one instant never differ. In a long silence of the engine it exceeds an integer.
  revision        bigint not null default 0
);

-- By how many milliseconds does a change or a tick publish later than the tick's instant (api.clock)? `at` is when that
-- is made, while the clock's row is locked, and `next_at` the instant of the tick that is in force from then on. By
-- none, as nearly always with a tick. But no published instant is ever before another one, nor given twice: changes
-- since the last tick may have moved that far on, and an engine that was silent catches up on times of which its
-- silence was published.
--
-- Silence is shown by a time that runs on until the commit. So a change during it begins after an instant that silence
-- shows half a minute later at the earliest: ticks take milliseconds, and whatever takes long locks the clock last. An
-- engine that falls silent in that half minute is silent already.
create function revision_after(
  ticked_at timestamptz,
  revision bigint,
  silent_after_ms integer,
  next_at timestamptz,
  at timestamptz default clock_timestamp()
) returns bigint
language sql stable
return greatest(
  0,
  1 + ceil(1000 * extract(epoch from case
    when ticked_at > at - silent_after_ms * interval '1 millisecond' + interval '30 seconds'
      then ticked_at + revision * interval '1 millisecond'
    else greatest(
      ticked_at + revision * interval '1 millisecond', date_bin('10 seconds', at - interval '2 seconds', 'epoch')
    )
  end - next_at))
)::bigint;

-- By which rules and by which build instants were decided: a row for each change, which holds until the next row does.
create table rules_in_force (
  holds_from timestamptz primary key,
  version    text not null,
  rules      jsonb not null
);

-- How slow an endpoint usually is from a region, as the engine uses it. Kept, so that a decision can be judged by what
-- held then.
create table typical_latency (
  holds_from   timestamptz not null,
  component_id integer not null references component,
  region_id    smallint not null references region,
  p50_us       integer not null check (p50_us >= 0),
  -- hourly medians that it is the median of
  hours        smallint not null,
  primary key (holds_from, component_id, region_id)
);

-- How one region sees one component. Faults and medians are read from the samples when somebody asks why. Rewritten
-- every tick, so pages keep room for updates in place.
create table region_state (
  component_id  integer not null references component,
  region_id     smallint not null references region,
  state         state not null,
  since         timestamptz not null,
  -- false: the newest sample is too old to be a vote
  reporting     boolean not null,
  samples       integer not null,
  bad           integer not null,
  -- good samples that are slow against their typical latency
  slow          integer not null default 0,
  -- bad samples in a row, up to the newest
  bad_run       integer not null,
  -- slot of the first sample of the bad run, as far back as the component is judged; null: the newest sample is not bad
  run_from      timestamptz,
  -- the first instant of an unbroken sequence of bad states
  bad_since     timestamptz,
  -- first instant at which it was bad no more; null: it was not since the series began
  bad_until     timestamptz,
  -- a fifth fails, window after window, whether or not three in a row do
  in_part       boolean not null default false,
  -- at least half of what failed within its window was refused (blocked)
  refused       boolean not null default false,
  -- at least half of what was bad within its window has a cause that the region's own network can have
  may_be_ours   boolean not null default false,
  -- Its newest sample is a bad answer, which shows that the way works. A refusal that stands while the probe pauses
  -- does not count.
  answers_badly boolean not null default false,
  newest_at     timestamptz,
  newest_fault  fault,
  -- the newest sample that failed or was slow, within what the component is judged by
  newest_bad_at timestamptz,
  -- `state`, but unknown where the region has no say: it does not report, is impaired, or nothing is concluded from any
  -- sample
  sees          state,
  sees_since    timestamptz,
  primary key (component_id, region_id)
) with (fillfactor = 50);

create index region_state_refused on region_state (component_id, region_id) where refused;

create table component_state (
  component_id  integer primary key references component,
  state         state not null,
  -- the tick that confirmed this state
  since         timestamptz not null,
  -- since when it is not bad, be it operational or unknown; null: it is
  not_bad_since timestamptz,
  reporting     smallint not null,
  quorum        smallint not null
) with (fillfactor = 50);

create table venue_state (
  venue_id smallint primary key references venue,
  state    state not null,
  since    timestamptz not null
) with (fillfactor = 50);

-- What each region by itself sees of a venue, for those who ask "or is it just me?" (docs/rulebook.md, chapter 5).
create table region_venue_state (
  region_id smallint not null references region,
  venue_id  smallint not null references venue,
  state     state not null,
  since     timestamptz not null,
  primary key (venue_id, region_id)
) with (fillfactor = 50);

-- When most venues turned bad at once in one region and nowhere else: that region's trouble, not theirs.
create table impairment (
  impairment_id  bigint generated always as identity primary key,
  region_id      smallint not null references region,
  -- in hindsight: the first instant since which one of the venues is bad there
  started_at     timestamptz not null,
  recognised_at  timestamptz not null,
  ended_at       timestamptz,
  -- It ended since other regions saw the same: it was no trouble of the region's own.
  seen_elsewhere boolean not null default false,
  -- the venues it was recognised by, and how many the region measured then
  venues         text[] not null,
  measured       integer not null,
  -- the regions of the vantage that it was recognised for; null: the region alone
  beside         smallint[],
  check (started_at <= recognised_at),
  check (ended_at > recognised_at)
);

create unique index impairment_open on impairment (region_id) where ended_at is null;
create index impairment_recognised on impairment (recognised_at desc);

-- Regions that have long seen a component bad, without a quorum: they have no vote on it. Kept like impairments.
create table outlier (
  component_id integer not null references component,
  region_id    smallint not null references region,
  started_at   timestamptz not null,
  -- null: it still is one
  ended_at     timestamptz,
  primary key (component_id, region_id, started_at)
);

-- every tick asks who is one; over the years most were
create index outlier_ended on outlier (coalesce(ended_at, 'infinity'));

-- When a component was unknown although it was measured, because its samples say nothing about the venue: nobody has
-- seen it good by its present entry (never), its entry has ended (ended), or only one vantage is refused (blocked).
-- Kept like impairments.
create table unjudged (
  component_id integer not null references component,
  started_at   timestamptz not null,
  reason       text not null check (reason in ('never', 'ended', 'blocked')),
  -- null: it still is
  ended_at     timestamptz,
  primary key (component_id, started_at)
);

create index unjudged_open on unjudged (component_id) where ended_at is null;

create table incident (
  incident_id         bigint generated always as identity primary key,
  -- given at opening, never changed: people link to it
  slug                text not null unique,
  component_id        integer not null references component,
  severity            state not null check (severity in ('degraded', 'outage')),
  peak_severity       state not null check (peak_severity in ('degraded', 'outage')),
  -- The first bad sample of the run that opened it. Slots are whole milliseconds, and cursors rely on it.
  started_at          timestamptz not null,
  opened_at           timestamptz not null,
  escalated_at        timestamptz,
  -- the last tick at which a quorum still saw it
  last_bad_at         timestamptz not null,
  closed_at           timestamptz,
  -- the third within an hour: its recovery hold is longer
  flapping            boolean not null default false,
  retracted_at        timestamptz,
  retraction_reason   text,
  -- null: an operator retracted it
  retraction_evidence jsonb,
  -- of one that an operator retracted while it was open: until then its trouble lasted, and opened nothing
  dismissed_until     timestamptz check (dismissed_until > retracted_at),
  -- {opening, escalation, closing}: who voted what, on which samples, and who was not counted and why
  evidence            jsonb not null,
  check (started_at <= opened_at),
  check (closed_at >= opened_at),
  check (retracted_at >= opened_at),
  check ((retracted_at is null) = (retraction_reason is null)),
  check (retraction_evidence is null or retracted_at is not null),
  constraint incident_started_at_whole_ms
    check (date_trunc('milliseconds', started_at at time zone 'UTC') = started_at at time zone 'UTC')
);

-- at most one open incident a component, whatever the engine does
create unique index incident_open on incident (component_id) where closed_at is null and retracted_at is null;
create index incident_started on incident (started_at desc, incident_id desc);
create index incident_component on incident (component_id, started_at desc);
-- those that keep their component from opening
create index incident_dismissed on incident (component_id)
where retracted_at is not null and retraction_evidence is null and closed_at is null and dismissed_until is null;
-- the board lists those that closed within a day
create index incident_closed on incident (closed_at) where closed_at is not null and retracted_at is null;
-- every request asks for the newest retraction
create index incident_retracted on incident (retracted_at) where retracted_at is not null;

-- History is not rewritten. What an incident is called, where and when it began and by which votes never changes, its
-- peak does not fall, and what was noted once stays. Once it is closed nothing changes but for its retraction, once and
-- as a whole; and of a retracted one only until when the operator's word held.
create function refuse_rewriting() returns trigger
language plpgsql
as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'incident % cannot be deleted; retract it instead', old.slug
      using constraint = 'refuse_rewriting';
  end if;
  if (new.incident_id, new.slug, new.component_id, new.started_at, new.opened_at, new.flapping)
    is distinct from (old.incident_id, old.slug, old.component_id, old.started_at, old.opened_at, old.flapping)
    or new.evidence -> 'opening' is distinct from old.evidence -> 'opening'
  then
    raise exception 'the name, the beginning and the opening of incident % cannot be changed', old.slug
      using constraint = 'refuse_rewriting';
  end if;
  if old.retracted_at is not null
    and (
      old.dismissed_until is not null
      or to_jsonb(new) - 'dismissed_until' is distinct from to_jsonb(old) - 'dismissed_until'
    )
  then
    raise exception 'incident % was retracted at %, and cannot be changed any more', old.slug, old.retracted_at
      using constraint = 'refuse_rewriting';
  end if;
  if old.closed_at is not null
    and to_jsonb(new) - '{retracted_at,retraction_reason,retraction_evidence}'::text[]
      is distinct from to_jsonb(old) - '{retracted_at,retraction_reason,retraction_evidence}'::text[]
  then
    raise exception 'incident % was closed at %, and cannot be changed any more', old.slug, old.closed_at
      using constraint = 'refuse_rewriting';
  end if;
  if new.peak_severity < old.peak_severity
    or new.last_bad_at < old.last_bad_at
    or (
      old.escalated_at is not null
      and (new.escalated_at, new.evidence -> 'escalation')
        is distinct from (old.escalated_at, old.evidence -> 'escalation')
    )
  then
    raise exception 'the peak and the last bad instant of incident % cannot be taken back', old.slug
      using constraint = 'refuse_rewriting';
  end if;
  return new;
end;
$$;

create trigger refuse_rewriting before update or delete on incident
for each row execute function refuse_rewriting();

-- The states of venues and components, decided instant by instant: a row for each time from one change to the next.
-- change_event has the same for clients that follow it, for a day.
create table state_change (
  venue_id     smallint not null references venue,
  -- null: the venue as a whole
  component_id integer references component,
  state        state not null,
  started_at   timestamptz not null,
  -- null: it still has it
  ended_at     timestamptz,
  -- when that was decided: later than it started, if the engine had been away
  recorded_at  timestamptz not null,
  unique nulls not distinct (venue_id, component_id, started_at)
);

-- a subject has one state at a time
create unique index state_change_open on state_change (component_id, venue_id) nulls not distinct
where ended_at is null;

-- All changes in the order in which they were decided, for clients that follow them (/v1/events). Written in the
-- transaction that decides, always under the lock of the clock's row, so numbers are committed in their order: who has
-- read one has missed none before it.
create table change_event (
  change_id    bigint generated always as identity primary key,
  -- the instant that was decided
  at           timestamptz not null,
  recorded_at  timestamptz not null,
  kind         text not null check (
    kind in ('venue', 'component', 'opened', 'escalated', 'closed', 'retracted', 'transfer')
  ),
  venue_id     smallint not null references venue,
  -- null: the venue as a whole
  component_id integer references component,
  -- null: by quorum; else what this region by itself sees
  region_id    smallint references region,
  -- of an incident: its severity; null: of a transfer
  state        state,
  -- Of an incident; null: a state. Copied, so that what clients were sent never depends on what became of the incident.
  slug         text,
  started_at   timestamptz,
  -- the announced maintenance beside it, as the venue had announced it by then
  maintenance  jsonb,
  -- what the venue declares now: {asset, network, venueNetwork, direction, state, because}
  transfer     json,
  check ((component_id is null) = (kind in ('venue', 'transfer'))),
  check ((slug is null) = (kind in ('venue', 'component', 'transfer'))),
  check ((state is null) = (kind = 'transfer')),
  check ((transfer is null) = (kind <> 'transfer')),
  check ((slug is null) = (started_at is null)),
  check (region_id is null or slug is null)
);
