-- End deliveries that will not be sent: those queued for a channel that was switched off or removed are skipped, and
-- those of an operator's command that ended before the answer have failed. Each is recorded in the delivery log, from
-- where it can be replayed.
--
-- $1 now, or null: by this database's clock. Rows {channel_id, state, deliveries}.
with n as materialized (
  select coalesce($1::timestamptz, clock_timestamp()) as now
),
-- each part by its own index: otherwise the whole queue would be read
unsent as materialized (
  select d.delivery_id, c.removed_at
  from channel c
  join delivery d using (channel_id)
  where (c.off_at is not null or c.removed_at is not null) and d.state = 'due' and d.cause in ('event', 'open')
  union all
  select d.delivery_id, null
  from delivery d
  where d.state = 'due' and d.cause in ('replay', 'test')
),
ended as (
  update delivery d
  set state = case when d.cause in ('event', 'open') then 'skipped' else 'failed' end,
    reason = case
      when d.cause not in ('event', 'open') then null
      when u.removed_at is not null then 'the channel was removed'
      else 'the channel was off'
    end,
    ended_at = n.now,
    claimed_by = null,
    claimed_until = null
  from unsent u
  cross join n
  where d.delivery_id = u.delivery_id
    and d.state = 'due'
    -- wait for what is being sent
    and (d.claimed_until is null or d.claimed_until <= n.now)
  returning d.delivery_id, d.channel_id, d.state
),
lost as (
  update delivery_attempt a
  set result = 'lost', ended_at = n.now, error = 'its sender ended before the answer was recorded'
  from ended e
  cross join n
  where a.delivery_id = e.delivery_id and a.result is null
)
select e.channel_id, e.state, count(*)::int as deliveries
from ended e
group by e.channel_id, e.state
order by e.channel_id, e.state
