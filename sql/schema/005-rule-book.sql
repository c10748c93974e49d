-- What the rule book needs beside what 004 keeps.

-- Whole seconds, rounded up, from the slot until this database had the sample. The engine decides an instant by what was
-- known then, so this is what makes a replay see what it saw. Seconds compress to a fraction of what an instant takes.
alter table sample add column received_after_s integer not null default 0;

-- How slow an endpoint usually is from a region, as the engine uses it: kept, so that a decision can be judged by what held.
create table typical_latency (
  holds_from   timestamptz not null,
  component_id integer not null references component,
  region_id    smallint not null references region,
  p50_us       integer not null check (p50_us >= 0),
  -- hourly medians that it is the median of
  hours        smallint not null,
  primary key (holds_from, component_id, region_id)
);

-- When most venues turned bad at once in one region and nowhere else: that region's trouble, not theirs.
create table impairment (
  impairment_id bigint generated always as identity primary key,
  region_id     smallint not null references region,
  -- in hindsight: the first instant since which one of the venues is bad there
  started_at    timestamptz not null,
  recognised_at timestamptz not null,
  ended_at      timestamptz,
  -- the venues it was recognised by, and how many the region measured then
  venues        text[] not null,
  measured      integer not null,
  check (started_at <= recognised_at),
  check (ended_at > recognised_at)
);

create unique index impairment_open on impairment (region_id) where ended_at is null;
create index impairment_recognised on impairment (recognised_at desc);

-- What was counted moves with every sample; faults and medians are read from the samples when somebody asks why.
alter table region_state
  drop column p50_us,
  drop column faults,
  -- good samples that are slow against their typical latency
  add column slow integer not null default 0,
  -- the first instant of an unbroken sequence of bad states
  add column bad_since timestamptz;

alter table engine_clock
  -- after this much silence nothing that the engine said is shown as current
  add column silent_after_ms integer,
  -- the boundary for which typical latencies were reckoned last
  add column typical_for timestamptz;

alter table incident
  -- the third within an hour: its recovery hold is longer
  add column flapping boolean not null default false,
  add column retraction_evidence jsonb;

-- What subscribers are to be told, written in the transaction that decides it: none can be lost, and none is told that was
-- not decided. At most one of each kind an incident.
create table alert_event (
  event_id      bigint generated always as identity primary key,
  incident_id   bigint not null references incident,
  kind          text not null check (kind in ('opened', 'escalated', 'closed')),
  severity      state not null,
  -- the instant that was decided
  at            timestamptz not null,
  recorded_at   timestamptz not null,
  -- the engine had been away, and came to this instant much later
  late          boolean not null,
  dispatched_at timestamptz,
  -- its incident was retracted before it had left
  dropped_at    timestamptz,
  unique (incident_id, kind)
);

create index alert_event_waiting on alert_event (event_id) where dispatched_at is null and dropped_at is null;

-- History is not rewritten. What an incident is called, where and when it began never changes; once it is closed nothing
-- does, but for its retraction, once.
create function refuse_rewriting() returns trigger
language plpgsql
as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'incident % cannot be deleted; retract it instead', old.slug;
  end if;
  if (new.incident_id, new.slug, new.component_id, new.started_at, new.opened_at)
    is distinct from (old.incident_id, old.slug, old.component_id, old.started_at, old.opened_at)
  then
    raise exception 'the name and the beginning of incident % cannot be changed', old.slug;
  end if;
  if old.retracted_at is not null then
    raise exception 'incident % was retracted at %, and cannot be changed any more', old.slug, old.retracted_at;
  end if;
  if old.closed_at is not null
    and to_jsonb(new) - '{retracted_at,retraction_reason,retraction_evidence}'::text[]
      is distinct from to_jsonb(old) - '{retracted_at,retraction_reason,retraction_evidence}'::text[]
  then
    raise exception 'incident % was closed at %, and cannot be changed any more', old.slug, old.closed_at;
  end if;
  return new;
end;
$$;

create trigger refuse_rewriting before update or delete on incident
for each row execute function refuse_rewriting();
