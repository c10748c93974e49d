-- Drops what make-way.sql has renamed, once nothing reads it any more.
set local client_min_messages = warning;
drop schema if exists venuewatch_former_api cascade;
drop schema if exists venuewatch_former_engine cascade;
drop schema if exists venuewatch_former_upkeep cascade;
drop schema if exists venuewatch_former_analytics cascade;
drop schema if exists venuewatch_former_logins cascade;
