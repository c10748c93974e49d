-- Claim what is to be sent now: the first delivery of each channel that is on and free, reserved for the caller until
-- the claim expires. A delivery that another dispatcher claimed and never settled is taken over: whether it was sent is
-- unknown, so it is sent again.
--
-- `at`: now; null: by this database's clock. `sender`: who claims. `lasts_ms`: length of the claim. `at_most`: maximum
-- number. `pace_ms`: {format: milliseconds} that a channel rests between two deliveries. `key_head`: prefix of what the
-- caller's key can decrypt.
--
-- `state` is `due` if a delivery is to be sent; `dropped` if what it is about is no longer public: it ends here, and
-- attempt_id and the columns after it are null. `event` and `incident` are the current rows: the sender remembers them
-- for a while (restore_sent.sql); `incident` is null if the event is about transfers.
--
-- PL/pgSQL, because a connection keeps its plan: planning took two thirds of the embedded database's 12 ms for a claim.
-- A claim is one statement, so that two dispatchers never see a part of it.
create function engine.claim_deliveries(
  at timestamptz, sender text, lasts_ms integer, at_most integer, pace_ms jsonb, key_head bytea
)
returns table (
  state          text,
  delivery_id    bigint,
  event_id       bigint,
  kind           text,
  channel_id     integer,
  slug           text,
  reason         text,
  taken_over     boolean,
  attempt_id     bigint,
  claimed_at     timestamptz,
  format         text,
  service_region text,
  destination    bytea,
  secret         bytea,
  former_secret  bytea,
  body           json,
  event          jsonb,
  incident       jsonb
)
language plpgsql
as $$
#variable_conflict use_column
begin
  return query
  with n as materialized (
    select coalesce(at, clock_timestamp()) as now
  ),
  first_in_line as materialized (
    select f.delivery_id
    from n
    join engine.first_in_line() f on f.sendable_at <= n.now
    -- on a new timeline nothing is sent before the lost history is restored
    where (select engine.is_restored(t) from timeline t)
      -- what another key encrypted waits for a core that has it
      and substring(f.destination for length(key_head)) = key_head
      -- what an operator put at the front of the queue waits for what is being sent
      and not exists (
        select from delivery u
        where u.channel_id = f.channel_id
          and u.state = 'due' and u.cause in ('event', 'open') and u.claimed_until > n.now
      )
    order by f.due_at, f.delivery_id
    limit at_most
  ),
  -- another dispatcher may have been faster since this statement started: checked again under the lock
  free as materialized (
    select d.delivery_id, d.channel_id, d.event_id, d.claimed_by is not null as taken_over
    from delivery d
    join first_in_line using (delivery_id)
    cross join n
    where d.state = 'due' and d.due_at <= n.now and (d.claimed_until is null or d.claimed_until <= n.now)
    for update of d skip locked
  ),
  -- computed once per event, as many channels get the same
  bodies as materialized (
    select
      e.event_id, e.incident_id, e.kind, s.slug, (s.incident).retracted_at as retracted_at, s.published, a.body,
      to_jsonb(e) as event,
      to_jsonb(s.incident) as incident
    from (select distinct f.event_id from free f) f
    join alert_event e using (event_id)
    join engine.alert_subject s using (event_id)
    left join api.alert a on a.event_id = f.event_id
  ),
  claimed as materialized (
    select
      f.*,
      b.kind,
      b.slug,
      b.retracted_at,
      b.event,
      b.incident,
      -- a closing at an unpublished venue: only for channels to which the opening was sent
      case
        when b.published or exists (
          select
          from alert_event e
          join delivery d on d.event_id = e.event_id and d.channel_id = f.channel_id
          where e.incident_id = b.incident_id and e.kind <> 'closed' and d.first_claimed_at is not null
        )
          then b.body
      end as body
    from free f
    join bodies b using (event_id)
  ),
  moved as (
    update delivery d
    set state = case when t.body is null then 'dropped' else 'due' end,
      reason = case
        when t.body is not null then null
        when t.retracted_at is not null then 'its incident was retracted'
        else 'its venue is no longer published'
      end,
      ended_at = case when t.body is null then n.now end,
      claimed_by = case when t.body is not null then sender end,
      claimed_until = case when t.body is not null then n.now + lasts_ms * interval '1 millisecond' end,
      first_claimed_at = coalesce(d.first_claimed_at, case when t.body is not null then n.now end)
    from claimed t
    cross join n
    where d.delivery_id = t.delivery_id
    returning d.delivery_id, d.state, d.reason
  ),
  lost as (
    update delivery_attempt a
    set result = 'lost', ended_at = n.now, error = 'its sender ended before the answer was recorded'
    from claimed t
    cross join n
    where t.taken_over and a.delivery_id = t.delivery_id and a.result is null
  ),
  attempts as (
    insert into delivery_attempt (delivery_id, channel_id, sent_by, started_at)
    select t.delivery_id, t.channel_id, sender, n.now from claimed t cross join n where t.body is not null
    returning delivery_id, attempt_id
  ),
  busy as (
    update channel c
    set free_at = n.now + (pace_ms ->> c.format)::int * interval '1 millisecond'
    from claimed t
    cross join n
    where c.channel_id = t.channel_id and t.body is not null and (pace_ms ->> c.format)::int > 0
  )
  select
    m.state,
    t.delivery_id,
    t.event_id,
    t.kind,
    t.channel_id,
    t.slug,
    m.reason,
    t.taken_over,
    b.attempt_id,
    n.now as claimed_at,
    c.format,
    c.service_region,
    c.destination,
    c.secret,
    case when c.former_until > n.now then c.former_secret end as former_secret,
    t.body,
    case when t.body is not null then t.event end as event,
    case when t.body is not null then t.incident end as incident
  from claimed t
  join moved m using (delivery_id)
  join channel c using (channel_id)
  cross join n
  left join attempts b using (delivery_id)
  order by t.event_id, t.delivery_id;
end;
$$;
