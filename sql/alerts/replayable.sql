-- What an operator may want to send again: $1 these deliveries, or, if null, those of channel $2 that failed or were
-- skipped since $3 and have not been delivered since, once per event. {delivery_id, channel_id, event_id, state, kind,
-- slug, retracted_at, retraction_reason, published, removed_at}, in the order of events. The second case
-- excludes retracted and unpublished incidents, because they were not requested by number.
select distinct on (d.channel_id, d.event_id, case when $1::bigint[] is not null then d.delivery_id end)
  d.delivery_id,
  d.channel_id,
  d.event_id,
  d.state,
  e.kind,
  s.slug,
  api.iso((s.incident).retracted_at) as retracted_at,
  (s.incident).retraction_reason as retraction_reason,
  s.published,
  api.iso(ch.removed_at) as removed_at
from delivery d
join channel ch using (channel_id)
left join alert_event e using (event_id)
left join engine.alert_subject s using (event_id)
where case
  when $1::bigint[] is not null then d.delivery_id = any ($1)
  else
    d.channel_id = $2::int
    and d.ended_at >= $3::timestamptz
    and d.cause <> 'test'
    and d.state in ('failed', 'skipped')
    -- what a channel did not want
    and d.reason is distinct from engine.quiet_reason()
    and (s.incident).retracted_at is null
    and (s.published or e.kind = 'closed')
    and not exists (
      select from delivery o
      where o.channel_id = d.channel_id and o.event_id = d.event_id and o.state in ('due', 'delivered')
    )
  end
order by
  d.channel_id,
  d.event_id,
  case when $1::bigint[] is not null then d.delivery_id end,
  d.delivery_id desc
