-- What a page in the format of Statuspage shows of one venue, whose components are its own, or of all venues, each of
-- which is a component.
--
-- $1 venue; null: all. One row {generated_at, body}, or none if the venue is not published. body: {generatedAt, name
-- (null for all), state, components: [{id, name, part (of a venue; null for all), category, state, since, createdAt}],
-- incidents, unresolved, maintenances}. `incidents` are the newest fifty, and `unresolved` all open ones: {component
-- (the id in `components`), venueName, incident (the Incident object)}. `maintenances` are the newest fifty that the
-- venues announced for the last ninety days and later: {id, component (null for one venue, whose notices name its own
-- parts and not ours), venueName, over, plannedEnd, modifiedAt, notice (the OfficialIncident object)}, without those
-- that were cancelled.
with watched as (
  select
    s.venue as id,
    s.name,
    null as part,
    s.category,
    s.state,
    s.since,
    v.watched_from,
    row_number() over (order by s.position, s.venue_id) as position
  from api.venue s
  join venue v using (venue_id)
  where $1::text is null and not s.has_ended
  union all
  select
    c.venue || ':' || c.component,
    c.label,
    c.component,
    v.category,
    s.state,
    s.since,
    w.watched_from,
    row_number() over (order by c.position, c.component_id)
  from api.component c
  join api.component_state s using (component_id)
  join component w using (component_id)
  join venue v on v.venue_id = c.venue_id
  where c.venue = $1
),
-- The newest by their opening, which is when they were published. They are found by their start, which has an index:
-- none opens so late that it would not be among twice as many.
newest as materialized (
  select t.incident_id
  from (
    select i.incident_id, i.opened_at
    from api.incident i
    where $1 is null or i.venue = $1
    order by i.started_at desc, i.incident_id desc
    limit 100
  ) t
  order by t.opened_at desc, t.incident_id desc
  limit 50
),
incidents as materialized (
  select
    i.incident_id,
    i.opened_at,
    n.incident_id is not null as is_new,
    i.status = 'open' as is_open,
    json_build_object(
      'component', case when $1 is null then i.venue else i.venue || ':' || i.component end,
      'venueName', v.name,
      'incident', i.body
    ) as body
  from api.incident i
  join venue v using (venue_id)
  left join newest n using (incident_id)
  where ($1 is null or i.venue = $1)
    and i.incident_id in (
      select w.incident_id from newest w
      union
      select o.incident_id from incident o where o.closed_at is null
    )
),
maintenances as (
  select
    n.started_at,
    n.venue_id,
    n.notice_id,
    json_build_object(
      'id', v.venue || '-maintenance-' || n.notice_id,
      'component', case when $1 is null then v.venue end,
      'venueName', v.name,
      'over', m.is_over,
      'plannedEnd', api.iso(n.planned_end_at),
      'modifiedAt', api.iso(api.notice_modified_at(m.notice_id)),
      'notice', api.notice_body(n, null)
    ) as body
  from api.maintenance m
  join api.notice n using (notice_id, venue_id)
  join api.venue v using (venue_id)
  cross join api.clock k
  where ($1 is null or v.venue = $1)
    and not n.vanished
    -- the format has no word for it: Statuspage deletes what is cancelled, and readers would take it for completed
    and not m.is_cancelled
    and n.started_at >= k.generated_at - interval '90 days'
  order by n.started_at desc, n.venue_id, n.notice_id desc
  limit 50
)
select
  k.generated_at,
  json_build_object(
    'generatedAt', api.iso(k.generated_at),
    'stale', false,
    'ageSeconds', null,
    'decidedAt', null,
    'name', v.name,
    'state', coalesce(
      v.state,
      (
        select api.worst(
          count(*),
          count(*) filter (where w.state <> 'unknown'),
          count(*) filter (where w.state = 'outage'),
          count(*) filter (where w.state in ('degraded', 'outage'))
        )
        from watched w
      )
    ),
    'components', coalesce(
      (
        select json_agg(
          json_build_object(
            'id', w.id,
            'name', w.name,
            'part', w.part,
            'category', w.category,
            'state', w.state,
            'since', api.iso(w.since),
            'createdAt', api.iso(w.watched_from)
          )
          order by w.position
        )
        from watched w
      ),
      '[]'
    ),
    'incidents', coalesce(
      (
        select json_agg(i.body order by i.opened_at desc, i.incident_id desc)
        from incidents i
        where i.is_new
      ),
      '[]'
    ),
    'unresolved', coalesce(
      (
        select json_agg(i.body order by i.opened_at desc, i.incident_id desc)
        from incidents i
        where i.is_open
      ),
      '[]'
    ),
    'maintenances', coalesce(
      (select json_agg(m.body order by m.started_at desc, m.venue_id, m.notice_id desc) from maintenances m),
      '[]'
    )
  )::text as body
from api.clock k
left join api.venue v on v.venue = $1
where $1 is null or v.venue_id is not null
