-- The delivery that is first in line of each channel, where the channel is on and free, and the delivery is due and nobody's.
-- Whoever asks also asks engine.is_restored: on a new timeline a core may remember that a receiver has what reads `due` here, and attempts would get
-- numbers that are given already.
--
-- A function without side effects, which the planner inlines: dispatchers ask it four times a second.
create function engine.first_in_line(at timestamptz)
returns table (delivery_id bigint, channel_id integer, destination bytea, due_at timestamptz)
language sql stable
as $$
  select f.delivery_id, c.channel_id, c.destination, f.due_at
  from channel c
  cross join lateral (
    select d.delivery_id, d.due_at, d.claimed_until
    from delivery d
    where d.channel_id = c.channel_id and d.state = 'due' and d.cause in ('event', 'open')
    order by d.event_id
    limit 1
  ) f
  where c.removed_at is null and c.off_at is null and c.free_at <= at
    and f.due_at <= at
    and (f.claimed_until is null or f.claimed_until <= at)
$$;
