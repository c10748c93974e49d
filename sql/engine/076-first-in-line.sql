-- The delivery that is first in line of each channel that is on, and from when on it may be sent: once the channel is
-- free, the delivery due, and the claim of somebody else over. Callers also ask engine.is_restored: on a new timeline a
-- core may remember that a receiver has what reads `due` here, and attempts would get numbers that are given already.
--
-- A function without side effects, which the planner inlines: dispatchers ask it once a second and more.
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
