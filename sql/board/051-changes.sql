-- What changed, as /v1/events sends it. `event` is venue, component, incident or transfer. Every body is made of what
-- was written when it was decided, so it never changes. `region` is the one that sees a state so; null: it is by
-- quorum.
create view api.change_event as
select
  e.change_id,
  e.recorded_at,
  v.venue,
  v.category,
  g.region,
  case when e.slug is null then e.kind else 'incident' end as event,
  case
    when e.kind = 'transfer' then json_build_object(
      'at', api.iso(e.at), 'venue', v.venue, 'category', v.category, 'asset', e.transfer -> 'asset',
      'network', e.transfer -> 'network', 'venueNetwork', e.transfer -> 'venueNetwork',
      'direction', e.transfer -> 'direction', 'state', e.transfer -> 'state', 'because', e.transfer -> 'because'
    )
    when g.region is not null and e.kind = 'venue' then json_build_object(
      'at', api.iso(e.at), 'venue', v.venue, 'category', v.category, 'region', g.region, 'state', e.state
    )
    when g.region is not null then json_build_object(
      'at', api.iso(e.at), 'venue', v.venue, 'category', v.category, 'region', g.region, 'component', c.component,
      'state', e.state
    )
    when e.kind = 'venue' then json_build_object(
      'at', api.iso(e.at), 'venue', v.venue, 'category', v.category, 'state', e.state, 'maintenance', e.maintenance
    )
    when e.kind = 'component' then json_build_object(
      'at', api.iso(e.at), 'venue', v.venue, 'category', v.category, 'component', c.component, 'state', e.state
    )
    else json_build_object(
      'at', api.iso(e.at), 'venue', v.venue, 'category', v.category, 'component', c.component,
      'change', e.kind, 'severity', e.state, 'slug', e.slug, 'startedAt', api.iso(e.started_at),
      'maintenance', e.maintenance
    )
  end as body
from change_event e
join venue v using (venue_id)
left join component c using (component_id)
left join region g using (region_id)
where v.published and coalesce(c.published, true);
