-- Deliveries as an operator sees them, newest first: $1 this delivery, $2 of this channel, $3 about the incident, or
-- the transfer, with this slug, $4 in this state, $5 created since then (each null: all); $6 maximum number. {body};
-- its `attempts` are oldest first.
select
  json_build_object(
    'id', d.delivery_id,
    'channel', d.channel_id,
    'format', c.format,
    'to', c.shown_as,
    'cause', d.cause,
    'eventId', coalesce(d.event_id, 0),
    'kind', e.kind,
    'severity', e.severity,
    'incident', (s.incident).slug,
    'incidentRetractedAt', api.iso((s.incident).retracted_at),
    'transfer', case when s.asset is not null then s.slug end,
    'state', d.state,
    'reason', d.reason,
    'createdAt', api.iso(d.created_at),
    'dueAt', case when d.state = 'due' then api.iso(d.due_at) end,
    'endedAt', api.iso(d.ended_at),
    'failures', d.failures,
    'attempts', coalesce(a.attempts, '[]')
  ) as body
from delivery d
join channel c using (channel_id)
left join alert_event e using (event_id)
left join engine.alert_subject s using (event_id)
cross join lateral (
  select
    json_agg(
      json_build_object(
        'startedAt', api.iso(a.started_at),
        'endedAt', api.iso(a.ended_at),
        'sentBy', a.sent_by,
        'result', a.result,
        'status', a.status,
        'error', a.error,
        'durationMs', a.duration_ms,
        'answer', a.answer
      )
      order by a.attempt_id
    ) as attempts
  from delivery_attempt a
  where a.delivery_id = d.delivery_id
) a
where ($1::bigint is null or d.delivery_id = $1)
  and ($2::int is null or d.channel_id = $2)
  and ($3::text is null or s.slug = $3)
  and ($4::text is null or d.state = $4)
  and ($5::timestamptz is null or d.created_at >= $5)
order by d.delivery_id desc
limit $6
