-- The alerts that wait, and the state of the channels. One row {events_waiting, event_age_seconds, channels}, where
-- `channels` is [{channel, format, state, waiting, age_seconds}] without removed ones; `state` is on, operator,
-- failures or gone. Ages are those of the oldest, 0 if nothing waits: `greatest` ignores null.
select
  o.waiting as events_waiting,
  greatest(0, extract(epoch from n.now - o.oldest)) as event_age_seconds,
  c.channels
from (select clock_timestamp() as now) n
cross join (
  select count(*)::int as waiting, min(e.recorded_at) as oldest
  from alert_event e
  where e.dispatched_at is null and e.dropped_at is null
) o
cross join lateral (
  select
    coalesce(
      jsonb_agg(
        jsonb_build_object(
          'channel', c.channel_id,
          'format', c.format,
          'state', coalesce(c.off_cause, 'on'),
          'waiting', coalesce(l.waiting, 0),
          'age_seconds', greatest(0, extract(epoch from n.now - l.oldest))
        )
        order by c.channel_id
      ),
      '[]'
    ) as channels
  from channel c
  left join (
    select d.channel_id, count(*)::int as waiting, min(d.created_at) as oldest
    from delivery d
    where d.state = 'due' and d.cause in ('event', 'open')
    group by d.channel_id
  ) l using (channel_id)
  where c.removed_at is null
) c
