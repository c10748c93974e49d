-- After a failover: restore what a dispatcher has sent and this database has lost.
--
-- $1 [{event, incident, deliveries: [{channelId, delivered}]}]: rows of alert_event and incident as they were when the
-- dispatcher claimed them. One row {restored, closed, skipped}: slugs of incidents that continue; of those that are
-- closed here, because their component already has another open incident; and of those whose name another incident has
-- taken.
--
-- Incidents and events keep their numbers and names, so that receivers recognise them, and the engine closes the
-- incidents like any other. Safe to repeat, and for several dispatchers. Alerts about transfers are not restored: the
-- next reading of the list decides them again, as new events.
with sent as materialized (
  select
    jsonb_populate_record(null::alert_event, s.event) as event,
    jsonb_populate_record(null::incident, s.incident) as incident,
    s.deliveries
  from jsonb_to_recordset($1::jsonb) as s (event jsonb, incident jsonb, deliveries jsonb)
),
-- as in the latest of its events
lost as materialized (
  select distinct on ((s.incident).incident_id)
    s.incident,
    exists (select from incident i where i.slug = (s.incident).slug) as is_named_again,
    exists (
      select from incident i
      where i.component_id = (s.incident).component_id and i.closed_at is null and i.retracted_at is null
    ) as is_open_again
  from sent s
  -- the component may also have been added in the lost history
  join component c on c.component_id = (s.incident).component_id
  where not exists (select from incident i where i.incident_id = (s.incident).incident_id)
  order by (s.incident).incident_id, (s.event).event_id desc
),
to_close as materialized (
  select (l.incident).incident_id, greatest((l.incident).opened_at, k.ticked_at) as at
  from lost l
  cross join engine_clock k
  where l.is_open_again and (l.incident).closed_at is null and (l.incident).retracted_at is null
),
restored as (
  insert into incident
  overriding system value
  select (
    case
      when t.at is null then l.incident
      else jsonb_populate_record(
        l.incident,
        jsonb_build_object(
          'closed_at', t.at,
          'evidence', (l.incident).evidence || jsonb_build_object(
            'closing', jsonb_build_object('at', api.iso(t.at), 'reason', w.reason),
            'closedBecause', w.reason
          )
        )
      )
    end
  ).*
  from lost l
  left join to_close t on t.incident_id = (l.incident).incident_id
  cross join (
    values ('the database lost it in a failover, and the component has another open incident since')
  ) as w (reason)
  where not l.is_named_again
  on conflict do nothing
  returning incident_id, slug, peak_severity, escalated_at, closed_at
),
known as (
  select r.incident_id, r.escalated_at, r.closed_at from restored r
  union all
  select i.incident_id, i.escalated_at, i.closed_at
  from incident i
  where exists (select from sent s where (s.incident).incident_id = i.incident_id and (s.incident).slug = i.slug)
),
-- For an incident that was not lost, an escalation or a closing may have been: it is decided again, and sent as a new
-- event.
events as (
  insert into alert_event (event_id, incident_id, kind, severity, at, recorded_at, late)
  overriding system value
  select
    (s.event).event_id,
    (s.event).incident_id,
    (s.event).kind,
    (s.event).severity,
    (s.event).at,
    (s.event).recorded_at,
    (s.event).late
  from sent s
  join known k on k.incident_id = (s.event).incident_id
  where case (s.event).kind
    when 'opened' then true
    when 'escalated' then k.escalated_at is not null
    when 'closed' then k.closed_at is not null
  end
  on conflict do nothing
  returning event_id
),
closings as (
  insert into alert_event (incident_id, kind, severity, at, recorded_at, late)
  select r.incident_id, 'closed', r.peak_severity, t.at, clock_timestamp(), false
  from restored r
  join to_close t using (incident_id)
),
-- Of events that another dispatcher restored, or that were not lost, only this dispatcher may know some receivers. The
-- event's other channels get it as usual (expand_alerts.sql).
deliveries as (
  insert into delivery (channel_id, event_id, cause, state, created_at, due_at, first_claimed_at, ended_at)
  select
    c.channel_id,
    (s.event).event_id,
    'event',
    case when d.delivered then 'delivered' else 'due' end,
    n.now,
    n.now,
    n.now,
    case when d.delivered then n.now end
  from sent s
  join known k on k.incident_id = (s.event).incident_id
  cross join lateral jsonb_to_recordset(s.deliveries) as d ("channelId" integer, delivered boolean)
  join channel c on c.channel_id = d."channelId"
  cross join (select clock_timestamp() as now) n
  where exists (select from events e where e.event_id = (s.event).event_id)
    or exists (
      select
      from alert_event e
      where e.event_id = (s.event).event_id and e.incident_id = (s.event).incident_id and e.kind = (s.event).kind
    )
  on conflict (channel_id, event_id) where cause in ('event', 'open') do update
  set state = 'delivered', ended_at = excluded.ended_at, claimed_by = null, claimed_until = null,
    first_claimed_at = coalesce(delivery.first_claimed_at, excluded.first_claimed_at)
  where delivery.state = 'due' and excluded.state = 'delivered'
),
published_past_changed as (
  update engine_clock set revision = revision_after(ticked_at, revision, silent_after_ms, ticked_at)
  where exists (select from restored)
)
select
  coalesce(
    (
      select array_agg(r.slug order by r.slug)
      from restored r
      where not exists (select from to_close t where t.incident_id = r.incident_id)
    ),
    '{}'
  ) as restored,
  coalesce(
    (
      select array_agg(r.slug order by r.slug)
      from restored r
      where exists (select from to_close t where t.incident_id = r.incident_id)
    ),
    '{}'
  ) as closed,
  coalesce(
    (select array_agg((l.incident).slug order by (l.incident).slug) from lost l where l.is_named_again), '{}'
  ) as skipped
