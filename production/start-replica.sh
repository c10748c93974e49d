#!/bin/sh
# Starts a streaming replica, as the user that PostgreSQL runs as. Where there is no data yet, it begins with a base backup.
#
# PGDATA                 its directory, which it may make; beside it, $PGDATA.part is in use meanwhile
# PRIMARY_HOST           and PRIMARY_PORT (5432): where the primary is
# REPLICA_NAME           of its replication slot: small letters, digits and _; of several replicas each has its own
# REPLICA_PASSWORD_FILE  file with the password of the login `replica`
# RUN_DIR (/tmp)         in memory, for what has that password
#
# Arguments are those of the server.
set -eu
umask 077

PRIMARY_PORT=${PRIMARY_PORT:-5432}
passfile=${RUN_DIR:-/tmp}/pgpass
# here libpq finds it: neither the arguments of any program nor a file of the server have it
{
  printf '%s:%s:*:replica:' "$PRIMARY_HOST" "$PRIMARY_PORT"
  sed -e 's/[\\:]/\\&/g' "$REPLICA_PASSWORD_FILE"
} >"$passfile"
primary="host=$PRIMARY_HOST port=$PRIMARY_PORT user=replica passfile=$passfile application_name=$REPLICA_NAME"

if [ ! -e "$PGDATA/PG_VERSION" ]; then
  echo "start-replica: takes a base backup of $PRIMARY_HOST" >&2
  # A slot of before holds what nobody needs any more, or has lost what it held. Where a replica that lives has it, this fails.
  pg_receivewal --dbname="$primary" --slot="$REPLICA_NAME" --create-slot --if-not-exists
  pg_receivewal --dbname="$primary" --slot="$REPLICA_NAME" --drop-slot
  pg_receivewal --dbname="$primary" --slot="$REPLICA_NAME" --create-slot
  # aside, so that a backup that was broken off is never taken for a whole one
  rm -rf "$PGDATA.part"
  pg_basebackup --dbname="$primary" --slot="$REPLICA_NAME" --pgdata="$PGDATA.part" --wal-method=stream \
    --checkpoint=fast --write-recovery-conf
  mv "$PGDATA.part" "$PGDATA"
  echo "start-replica: has the base backup" >&2
fi

exec postgres -D "$PGDATA" -c primary_conninfo="$primary" "$@"
