-- In a scratch schema, after a replay: the incidents of both sides that were open or retracted within the period from
-- $1 to $2, as they stood at its end. Only of components that are watched now.
--
-- Incidents that opened before the period have the same id on both sides. `by_hand`: the reason of an operator's
-- retraction, at any time.
with sides as (
  select 'recorded' as side, i.*, case when o.retraction_evidence is null then o.retraction_reason end as by_hand
  from engine.incidents_as_of($2) i
  join venuewatch.incident o using (incident_id)
  union all
  select 'replayed', i.*, null
  from incident i
),
touching as (
  select
    s.*,
    -- if only one side retracted it within the period, it must be visible on both
    bool_or(
      coalesce(least(s.closed_at, s.retracted_at), 'infinity') >= $1::timestamptz or s.retracted_at >= $1::timestamptz
    ) over (
      partition by s.opened_at < $1::timestamptz, case when s.opened_at < $1::timestamptz then s.incident_id end
    ) as touches
  from sides s
)
select
  t.side,
  t.incident_id as id,
  t.slug,
  v.venue,
  c.component,
  coalesce(t.evidence -> 'opening' ->> 'state', t.severity::text) as severity,
  t.peak_severity as "peakSeverity",
  t.flapping,
  t.started_at as "startedAt",
  t.opened_at as "openedAt",
  t.escalated_at as "escalatedAt",
  t.closed_at as "closedAt",
  t.retracted_at as "retractedAt",
  t.retraction_reason as "retractionReason",
  t.by_hand as "byHand"
from touching t
join component c using (component_id)
join venue v using (venue_id)
where t.touches and c.published and v.published
order by t.started_at, t.opened_at, v.venue, c.component, t.side
