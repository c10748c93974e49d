-- Drops what schema/017-measured-minutes.sql, 018-as-of-when.sql and 028-published-components.sql have replaced, once
-- no view or function depends on it: from the top down, because each roll-up is built on the one after it.
set local client_min_messages = warning;
drop materialized view if exists venuewatch_former_venues.venue_day;
drop materialized view if exists venuewatch_former_venues.venue_hour;
drop materialized view if exists venuewatch_former_venues.venue_minute;
drop schema if exists venuewatch_former_venues;
drop table if exists venuewatch_former_rollups.typical_week;
drop materialized view if exists venuewatch_former_rollups.usual_hour;
drop materialized view if exists venuewatch_former_rollups.venue_latency_day;
drop materialized view if exists venuewatch_former_rollups.latency_day;
drop materialized view if exists venuewatch_former_rollups.venue_day;
drop materialized view if exists venuewatch_former_rollups.venue_minute;
drop materialized view if exists venuewatch_former_rollups.component_minute;
drop schema if exists venuewatch_former_rollups;
