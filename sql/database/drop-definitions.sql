-- For a schema file that removes something that the definitions depend on. Until they are recreated, their users fail.
set local client_min_messages = warning;
drop schema if exists api cascade;
drop schema if exists engine cascade;
drop schema if exists upkeep cascade;
drop schema if exists analytics cascade;
drop schema if exists logins cascade;
