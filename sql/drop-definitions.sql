-- For a schema file that takes away what the definitions stand on. Until they are made again, what needs them fails.
set local client_min_messages = warning;
drop schema if exists api cascade;
drop schema if exists engine cascade;
drop schema if exists upkeep cascade;
drop schema if exists analytics cascade;
drop schema if exists logins cascade;
