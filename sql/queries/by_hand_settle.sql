-- Record how attempt $1 of a delivery by hand ended: $2 result, $3 status, $4 error, $5 duration in ms, $6 beginning of the answer.
-- It was the only one. Nothing of its channel moves: neither its count of failures nor its switch. No row where somebody else has
-- settled it.
with ended as (
  update delivery_attempt
  set ended_at = clock_timestamp(), result = $2, status = $3, error = $4, duration_ms = $5, answer = $6
  where attempt_id = $1 and result is null
  returning delivery_id, ended_at
)
update delivery d
set
  state = case when $2 = 'delivered' then 'delivered' else 'failed' end,
  failures = case when $2 in ('refused', 'timeout', 'unreachable') then 1 else 0 end,
  claimed_by = null,
  claimed_until = null,
  ended_at = e.ended_at
from ended e
where d.delivery_id = e.delivery_id and d.state = 'due'
returning d.delivery_id
