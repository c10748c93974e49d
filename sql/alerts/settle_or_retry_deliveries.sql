-- Record the results of sending: attempts end; a delivery is delivered, due again, or failed; a channel counts its
-- consecutive failures, and is switched off by too many of them, or at once if the receiver says that it is gone.
--
-- $1 now, or null: by this database's clock; $2 [{attemptId, result, status, error, durationMs, answer, agoMs,
-- retryAfterMs, isGone, spread}]: the answer arrived `agoMs` ago, and `spread` scales the pause before the next
-- attempt; $3 the rules of deliveries (server/core/alerts/retry-rules.ts). Rows {attempt_id, delivery_id, event_id,
-- cause, channel_id, format, state, failures, due_at, channel_off: null | failures | gone, channel_failures,
-- first_sent_after_ms, delivered_after_ms}, one for each result that counted. The last two are measured from the
-- recording of the event; null if this attempt was not the first, or did not deliver, and for deliveries of another
-- cause than `event`.
--
-- A result counts while its claim is held. Once another dispatcher has taken the delivery over, the result is only
-- recorded with the attempt.
with n as materialized (
  select coalesce($1::timestamptz, clock_timestamp()) as now
),
rules as (
  select r.*
  from jsonb_to_record($3::jsonb) as r (
    attempts int, backoff_ms int, backoff_factor int, retry_after_ms int, own_fault_ms int, own_fault_for_ms int,
    switch_off_failures int
  )
),
results as materialized (
  select s.*
  from jsonb_to_recordset($2::jsonb) as s (
    "attemptId" bigint, result text, status int, error text, "durationMs" int, answer text, "agoMs" int,
    "retryAfterMs" int, "isGone" bool, spread float8
  )
),
held as materialized (
  select
    d.*,
    a.attempt_id,
    a.started_at,
    s.result,
    s.status,
    s."agoMs" as ago_ms,
    s."retryAfterMs" as retry_after_ms,
    s.status = 410 or s."isGone" as is_gone,
    s.spread
  from results s
  join delivery_attempt a on a.attempt_id = s."attemptId"
  join delivery d using (delivery_id)
  where a.result is null and d.state = 'due'
  -- both: a dispatcher that takes over marks the attempt as lost, and that must be visible here
  for update of d, a
),
ended as (
  update delivery_attempt a
  set result = s.result, status = s.status, error = s.error, duration_ms = s."durationMs", answer = s.answer,
    ended_at = n.now - s."agoMs" * interval '1 millisecond'
  from results s
  cross join n
  where a.attempt_id = s."attemptId" and (a.result is null or a.result = 'lost')
),
judged as materialized (
  select
    h.*,
    h.cause in ('event', 'open') as is_in_line,
    -- A fault that may be our own is not counted against the receiver while that is plausible: not if another channel
    -- was reached at about that time, and not for too long. A fault that is certainly ours says when to retry.
    case
      when h.result = 'delivered' then false
      when h.result <> 'ours' then true
      when h.retry_after_ms is not null then false
      else greatest(h.created_at, h.first_claimed_at) < n.now - r.own_fault_for_ms * interval '1 millisecond'
        or exists (
          select from channel o
          where o.channel_id <> h.channel_id
            and o.delivered_at > h.started_at - r.own_fault_ms * interval '1 millisecond'
        )
    end as failed
  from held h
  cross join n
  cross join rules r
),
counted as materialized (
  update channel c
  set delivered_at = case when j.result = 'delivered' then n.now else c.delivered_at end,
    -- a receiver that asks for a delay asks for it for all deliveries
    free_at = case
      when j.retry_after_ms > 0
        then greatest(c.free_at, n.now + least(j.retry_after_ms, r.retry_after_ms) * interval '1 millisecond')
      else c.free_at
    end,
    failures = case
      when j.result = 'delivered' then 0
      when j.failed then c.failures + 1
      else c.failures
    end,
    off_at = case
      when c.off_at is not null then c.off_at
      when j.is_gone or (j.failed and c.failures + 1 >= r.switch_off_failures) then n.now
    end,
    off_cause = case
      when c.off_at is not null then c.off_cause
      when j.is_gone then 'gone'
      when j.failed and c.failures + 1 >= r.switch_off_failures then 'failures'
    end
  from judged j
  cross join n
  cross join rules r
  where c.channel_id = j.channel_id and j.is_in_line
  returning c.channel_id, c.format, c.failures, case when c.off_at = n.now then c.off_cause end as off_now
),
verdict as materialized (
  select
    j.*,
    j.failures + j.failed::int as failures_now,
    k.off_now,
    case
      when j.result = 'delivered' then 'delivered'
      when not j.is_in_line or k.off_now is not null or j.failures + j.failed::int >= r.attempts then 'failed'
      else 'due'
    end as state_now,
    greatest(
      j.spread * case
        when j.failed then r.backoff_ms * r.backoff_factor ^ j.failures
        when j.retry_after_ms is null then r.own_fault_ms
        else 0
      end,
      least(coalesce(j.retry_after_ms, 0), r.retry_after_ms)
    ) * interval '1 millisecond' as pause
  from judged j
  cross join rules r
  left join counted k using (channel_id)
),
-- How long it took. Decides what /v1/notify counts, except later retractions.
timed as materialized (
  select
    v.delivery_id,
    case
      when v.cause = 'event' and v.started_at = v.first_claimed_at then v.started_at - e.recorded_at
    end as first_sent_after,
    case when v.cause = 'event' and v.state_now = 'delivered' then u.answered_at - e.recorded_at end as delivered_after,
    case
      when v.cause = 'event' and v.state_now = 'delivered' and e.kind = 'opened'
        -- No backfill. Nearly always its own first claim shows that; if that came too late, another channel's may have
        -- been in time.
        and (
          v.first_claimed_at <= u.backfill_from
          or exists (
            select
            from delivery o
            where o.event_id = v.event_id and o.cause in ('event', 'open') and o.first_claimed_at <= u.backfill_from
          )
        )
      -- a sample has its probe's clock
      then greatest(interval '0', u.answered_at - i.started_at)
    end as told_after
  from verdict v
  join alert_event e using (event_id)
  left join incident i using (incident_id)
  cross join n
  cross join lateral (
    select
      n.now - v.ago_ms * interval '1 millisecond' as answered_at,
      e.recorded_at + interval '1 hour' as backfill_from
  ) u
),
settled as (
  update delivery d
  set state = v.state_now,
    failures = v.failures_now,
    due_at = case when v.state_now = 'due' then n.now + v.pause else d.due_at end,
    ended_at = case when v.state_now <> 'due' then n.now - v.ago_ms * interval '1 millisecond' end,
    told_after_ms = round(extract(epoch from t.told_after) * 1000),
    claimed_by = null,
    claimed_until = null
  from verdict v
  cross join n
  left join timed t using (delivery_id)
  where d.delivery_id = v.delivery_id
  returning d.delivery_id, d.due_at
),
-- /v1/notify counts it for times before this moment
published_past_changed as (
  update engine_clock set revision = revision_after(ticked_at, revision, silent_after_ms, ticked_at)
  where exists (select from timed t where t.told_after is not null)
)
select
  v.attempt_id,
  v.delivery_id,
  v.event_id,
  v.cause,
  v.channel_id,
  c.format,
  v.state_now as state,
  v.failures_now as failures,
  s.due_at,
  v.off_now as channel_off,
  coalesce(k.failures, c.failures) as channel_failures,
  extract(epoch from t.first_sent_after) * 1000 as first_sent_after_ms,
  extract(epoch from t.delivered_after) * 1000 as delivered_after_ms
from verdict v
join settled s using (delivery_id)
left join timed t using (delivery_id)
join channel c using (channel_id)
left join counted k using (channel_id)
order by v.attempt_id
