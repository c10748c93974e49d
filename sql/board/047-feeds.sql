-- What readers of feeds and calendars get. Nothing here moves with the ticks: a feed that has no news must stay the
-- same bytes, because most of its readers ask in vain.

-- How long a feed says that an incident was retracted: for longer than a reader who asks at all goes without asking.
create function api.retraction_listed_for()
returns interval language sql immutable parallel safe return interval '30 days';

-- Incidents as entries of a feed, each with the instant of its newest event. A retracted one stays an entry for a
-- while: readers keep what they once got, and only an update of the same entry says that we no longer claim it.
-- It has neither severity nor votes then. Nothing of unpublished venues.
create view api.feed_entry as
select
  i.incident_id,
  i.slug,
  i.started_at,
  v.venue_id,
  greatest(i.opened_at, i.escalated_at, i.closed_at, i.retracted_at) as updated_at,
  json_build_object(
    'id', api.feed_uuid('incident ' || i.slug),
    'slug', i.slug,
    'venue', v.venue,
    'venueName', v.name,
    'category', v.category,
    'label', c.label,
    'openedAt', api.iso(i.opened_at),
    'updatedAt', api.iso(greatest(i.opened_at, i.escalated_at, i.closed_at, i.retracted_at)),
    'claimed', case when i.retracted_at is null then json_build_object(
      'peakSeverity', i.peak_severity,
      'fault', api.main_fault(i.evidence),
      'startedAt', api.iso(i.started_at),
      'escalatedAt', api.iso(i.escalated_at),
      'closedAt', api.iso(i.closed_at),
      -- while it is open, this moves with every tick
      'endedAt', case when i.closed_at is not null then api.iso(i.last_bad_at) end,
      -- as if it had ended at its opening, until it has ended: an overrun would change an entry without an event
      'maintenance', api.maintenance_beside(
        v.venue_id, i.started_at, i.opened_at, case when i.closed_at is null then i.opened_at else i.last_bad_at end
      ),
      'counted', i.evidence -> 'opening' -> 'counted',
      'regions', (
        select coalesce(json_agg(vote ->> 'region'), '[]')
        from jsonb_array_elements(i.evidence -> 'opening' -> 'votes') vote
        where vote ->> 'vote' in ('degraded', 'outage')
      )
    ) end,
    'retraction', case when i.retracted_at is not null then json_build_object(
      'at', api.iso(i.retracted_at),
      'reason', i.retraction_reason
    ) end
  ) as body
from incident i
join component c using (component_id)
join venue v using (venue_id)
cross join api.clock k
where v.published
  and (i.retracted_at is null or i.retracted_at > k.generated_at - api.retraction_listed_for());
