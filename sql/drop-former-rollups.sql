-- The roll-ups that schema/017-measured-minutes.sql has replaced, once no view and no function stands on them any more: from the top down, as each
-- stands on the one after it.
set local client_min_messages = warning;
drop materialized view if exists venuewatch_former_rollups.venue_latency_day;
drop materialized view if exists venuewatch_former_rollups.latency_day;
drop materialized view if exists venuewatch_former_rollups.venue_day;
drop materialized view if exists venuewatch_former_rollups.venue_minute;
drop materialized view if exists venuewatch_former_rollups.component_minute;
drop schema if exists venuewatch_former_rollups;
