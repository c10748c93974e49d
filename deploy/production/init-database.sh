#!/bin/sh
# Prepares a new database on a server of its own: its owner, which has no superuser rights, and the logins that only
# a superuser may create, because they replicate the whole server. sql/database/superuser.sql comes next. The image of the
# database runs both once, when it has created the database and nobody can connect yet.
#
# PASSWORDS (/run/secrets)  directory with the files owner_password, replica_password and backup_password
set -eu
export PASSWORDS="${PASSWORDS:-/run/secrets}"

psql -X --quiet --set=ON_ERROR_STOP=1 --username=postgres --dbname=venuewatch <<'SQL'
-- no statement with a password in the log
set log_min_duration_statement = -1;
set log_min_error_statement = panic;
\set owner `cat "$PASSWORDS/owner_password"`
\set replica `cat "$PASSWORDS/replica_password"`
\set backup `cat "$PASSWORDS/backup_password"`

-- createrole: it creates the logins of the programs
create role venuewatch login createrole password :'owner';
alter database venuewatch owner to venuewatch;
create role replica login replication connection limit 5 password :'replica';
create role backup login replication connection limit 5 password :'backup';
create extension if not exists timescaledb;
SQL
