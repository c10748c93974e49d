-- Begin a delivery that an operator requested: $1 channel, $2 event (null: a test), $3 sender, $4 length of its claim
-- in milliseconds. {delivery_id, attempt_id, at}. No dispatcher sends it: if the sender is gone, a dispatcher marks it
-- as failed.
with opened as (
  insert into delivery (
    channel_id, event_id, cause, state, created_at, due_at, claimed_by, claimed_until, first_claimed_at
  )
  select
    $1,
    $2,
    case when $2::bigint is null then 'test' else 'replay' end,
    'due',
    at,
    at,
    $3,
    at + $4::int * interval '1 ms',
    at
  from clock_timestamp() at
  returning delivery_id, channel_id, created_at
)
insert into delivery_attempt (delivery_id, channel_id, sent_by, started_at)
select delivery_id, channel_id, $3, created_at from opened
returning delivery_id, attempt_id, started_at as at
