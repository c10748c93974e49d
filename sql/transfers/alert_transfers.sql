-- Record the alerts that are due after venue $1's list was read at $2: of pauses that have lasted long enough, of
-- transfers that are open again after such a pause, and of those of which the venue has said nothing for a day.
-- {event_id} of each.
--
-- A pause that was there when the line was first seen is no news, and may have lasted for years: it is sent only to
-- channels that ask for what lasts.
--
-- A row that a reader of another core holds waits for the next reading. Waiting for it here could deadlock: that reader
-- waits for the clock, the clock's holder for alert_event, and the session that locks alert_event for this statement.
with due as materialized (
  select
    s.line_id,
    s.direction,
    s.since,
    s.because,
    s.paused_event_id,
    s.since <= l.first_seen_at as is_old,
    'transfer_' || case s.state when 'paused' then 'paused' when 'open' then 'resumed' else 'unknown' end as kind
  from transfer_state s
  join transfer_line l using (line_id)
  join transfer_asset a using (asset)
  where l.venue_id = $1::smallint
    and case s.state
      when 'paused'
        then a.published and s.paused_event_id is null and s.since <= $2::timestamptz - engine.transfer_alert_after()
      when 'open' then s.paused_event_id is not null
      else s.paused_event_id is not null and s.since <= $2::timestamptz - engine.transfer_given_up_after()
    end
  order by a.position, l.venue_network, s.direction desc
  for update of s skip locked
),
recorded as (
  insert into alert_event (
    kind, at, recorded_at, late, dispatched_at, line_id, direction, paused_since, because, paused_event_id
  )
  select
    d.kind,
    case d.kind when 'transfer_resumed' then d.since else $2::timestamptz end,
    clock_timestamp(),
    false,
    case when d.kind = 'transfer_paused' and d.is_old then clock_timestamp() end,
    d.line_id,
    d.direction,
    coalesce(e.paused_since, d.since),
    d.because,
    d.paused_event_id
  from due d
  left join alert_event e on e.event_id = d.paused_event_id
  returning event_id, line_id, direction, kind
)
update transfer_state s
set paused_event_id = case r.kind when 'transfer_paused' then r.event_id end
from recorded r
where s.line_id = r.line_id and s.direction = r.direction
returning r.event_id
