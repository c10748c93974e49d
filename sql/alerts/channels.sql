-- Channels as an operator sees them: $1 of this number, null: all; $2 whether to include removed ones. {body}, in the
-- order in which they were added. No secrets are read.
select
  json_build_object(
    'id', c.channel_id,
    'format', c.format,
    'serviceRegion', c.service_region,
    'to', c.shown_as,
    'description', c.description,
    'floor', c.severity_floor,
    'venues', c.venues,
    'categories', c.categories,
    'onMaintenance', c.on_maintenance,
    'transfers', c.transfers,
    'state', case when c.removed_at is not null then 'removed' when c.off_at is not null then 'off' else 'on' end,
    'offSince', api.iso(c.off_at),
    'offCause', c.off_cause,
    'failures', c.failures,
    'waiting', w.deliveries,
    'formerSecretUntil', case when c.former_until > clock_timestamp() then api.iso(c.former_until) end,
    'createdAt', api.iso(c.created_at),
    'removedAt', api.iso(c.removed_at),
    'lastAttempt', a.body
  ) as body
from channel c
cross join lateral (
  select count(*) as deliveries
  from delivery d
  where d.channel_id = c.channel_id and d.state = 'due' and d.cause in ('event', 'open')
) w
left join lateral (
  select
    json_build_object(
      'delivery', a.delivery_id,
      'startedAt', api.iso(a.started_at),
      'result', a.result,
      'status', a.status,
      'error', a.error
    ) as body
  from delivery_attempt a
  where a.channel_id = c.channel_id
  order by a.attempt_id desc
  limit 1
) a on true
where c.channel_id = coalesce($1::int, c.channel_id) and ($2::bool or c.removed_at is null)
order by c.channel_id
