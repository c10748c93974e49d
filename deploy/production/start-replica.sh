#!/bin/sh
# Starts a streaming replica, as the user that PostgreSQL runs as. If there is no data yet, it takes a base backup
# first.
#
# PGDATA                 its directory, created if missing; during the base backup $PGDATA.part is used as well
# PRIMARY_HOST           the primary's host; PRIMARY_PORT (5432): its port
# REPLICA_NAME           name of its replication slot: lower-case letters, digits and _; unique for each replica
# REPLICA_PASSWORD_FILE  file with the password of the login `replica`
# RUN_DIR (/tmp)         directory in memory, for a file with that password
#
# Arguments are passed to the server.
set -eu
umask 077

PRIMARY_PORT=${PRIMARY_PORT:-5432}
passfile=${RUN_DIR:-/tmp}/pgpass
# libpq reads the password from this file, so that it is neither in a program's arguments nor in a file of the server
{
  printf '%s:%s:*:replica:' "$PRIMARY_HOST" "$PRIMARY_PORT"
  sed -e 's/[\\:]/\\&/g' "$REPLICA_PASSWORD_FILE"
} >"$passfile"
primary="host=$PRIMARY_HOST port=$PRIMARY_PORT user=replica passfile=$passfile application_name=$REPLICA_NAME"

if [ ! -e "$PGDATA/PG_VERSION" ]; then
  echo "start-replica: taking a base backup of $PRIMARY_HOST" >&2
  # A former slot retains WAL that no replica needs any more, or is invalidated. If a running replica uses the slot,
  # this fails.
  pg_receivewal --dbname="$primary" --slot="$REPLICA_NAME" --create-slot --if-not-exists
  pg_receivewal --dbname="$primary" --slot="$REPLICA_NAME" --drop-slot
  pg_receivewal --dbname="$primary" --slot="$REPLICA_NAME" --create-slot
  # in a separate directory, so that an interrupted backup is never taken for a complete one
  rm -rf "$PGDATA.part"
  pg_basebackup --dbname="$primary" --slot="$REPLICA_NAME" --pgdata="$PGDATA.part" --wal-method=stream \
    --checkpoint=fast --write-recovery-conf
  mv "$PGDATA.part" "$PGDATA"
  echo "start-replica: the base backup is complete" >&2
fi

exec postgres -D "$PGDATA" -c primary_conninfo="$primary" "$@"
