-- What vw_core keeps up and does not own yet: {relation, is_view}. Only that is altered: each alteration waits for all who use the table.
select c.relname as relation, c.relkind = 'v' as is_view
from pg_class c
where c.relnamespace = 'venuewatch'::regnamespace
  and c.relname in (
    'sample', 'sample_minute', 'sample_hour', 'component_minute', 'venue_minute', 'component_hour', 'venue_hour', 'component_day', 'venue_day',
    'latency_day', 'venue_latency_day', 'usual_hour', 'rest_hour', 'stream_hour', 'latency_hour', 'hours_kept', 'typical_week', 'open_hour', 'shown_probe',
    'excluded_minute', 'regions_published', 'rollups_made', 'component_day_former', 'venue_day_former',
    'probe', 'engine_clock', 'region_state', 'component_state', 'venue_state', 'incident', 'leader', 'typical_latency', 'impairment', 'outlier', 'alert_event', 'rules_in_force',
    'official_source', 'official_reading', 'official_incident', 'official_change',
    'channel', 'delivery', 'delivery_attempt', 'watch', 'timeline'
  )
  and c.relowner <> (select oid from pg_roles where rolname = 'vw_core')
-- a roll-up reads with the rights of its owner, so what it stands on comes first
order by c.oid
