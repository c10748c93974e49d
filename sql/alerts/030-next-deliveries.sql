-- The first due delivery of each channel that is on, and when it may be sent: once the channel is free, the delivery is
-- due, and the claim of another dispatcher has expired. Callers must also check engine.is_restored: on a new timeline a
-- core may remember that a receiver already has what reads `due` here, and attempts would reuse numbers.
--
-- Without side effects, so that the planner inlines it: dispatchers call it at least once a second.
create function engine.first_in_line()
returns table (delivery_id bigint, channel_id integer, destination bytea, due_at timestamptz, sendable_at timestamptz)
language sql stable
as $$
  select f.delivery_id, c.channel_id, c.destination, f.due_at, greatest(c.free_at, f.due_at, f.claimed_until)
  from channel c
  cross join lateral (
    select d.delivery_id, d.due_at, d.claimed_until
    from delivery d
    where d.channel_id = c.channel_id and d.state = 'due' and d.cause in ('event', 'open')
    order by d.event_id
    limit 1
  ) f
  where c.removed_at is null and c.off_at is null
$$;
