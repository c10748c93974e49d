-- Relations with the wrong owner: {relation, is_view, owner}. vw_core owns what it maintains, and the migrating user
-- owns all other tables. Only these are altered, because each alteration waits for all users of the table.
with kept_up (relations) as (
  select array[
    'sample', 'sample_minute', 'sample_hour', 'component_minute', 'venue_minute', 'component_hour', 'venue_hour',
    'component_day', 'venue_day', 'maintenance_day',
    'latency_day', 'venue_latency_day', 'usual_hour', 'rest_hour', 'stream_hour', 'latency_hour', 'hours_kept',
    'typical_week', 'open_hour', 'shown_probe',
    'excluded_minute', 'regions_published', 'components_published', 'added_up',
    'probe', 'region_vantage', 'engine_clock', 'region_state', 'component_state', 'venue_state', 'region_venue_state',
    'incident', 'leader', 'typical_latency', 'impairment', 'outlier', 'unjudged', 'component_entry', 'alert_event',
    'change_event', 'state_change', 'rules_in_force', 'feed', 'feed_poll', 'notice',
    'notice_change', 'feed_address', 'entry_salt', 'service_address',
    'transfer_asset', 'transfer_network', 'transfer_spelling', 'transfer_source', 'transfer_address', 'transfer_line',
    'transfer_state', 'transfer_span', 'transfer_day', 'transfer_past', 'transfer_window',
    'channel', 'delivery', 'delivery_attempt', 'venue_lease', 'timeline'
  ]::name[]
)
select c.relname as relation, c.relkind = 'v' as is_view, owner.rolname as owner
from pg_class c
join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'venuewatch'
cross join kept_up k
join pg_roles owner
  on case when c.relname = any (k.relations) then owner.rolname = 'vw_core' else owner.oid = n.nspowner end
where (c.relname = any (k.relations) or c.relkind = 'r')
  and c.relkind in ('r', 'v')
  and c.relowner <> owner.oid
-- a roll-up reads with its owner's rights, so its sources come first
order by c.oid
