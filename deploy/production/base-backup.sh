#!/bin/sh
# Takes a base backup over the network, verifies it, and removes backups that are older than KEEP_DAYS, with the WAL
# that only they needed.
#
# BACKUPS (/backups)     base/ has the backups, each named by the instant at which it was complete; wal/ is the archive
# KEEP_DAYS (7)          any instant of so many past days can be restored
# PRIMARY_HOST           the server's host; PRIMARY_PORT (5432): its port
# BACKUP_PASSWORD_FILE   file with the password of the login `backup`
# RUN_DIR (/tmp)         directory in memory, for a file with that password
#
# With the argument `daily` it keeps running, and takes a backup whenever the newest is a day old.
set -eu
umask 077

BACKUPS=${BACKUPS:-/backups}
KEEP_DAYS=${KEEP_DAYS:-7}
passfile=${RUN_DIR:-/tmp}/backup-pgpass
primary="host=$PRIMARY_HOST port=${PRIMARY_PORT:-5432} user=backup passfile=$passfile application_name=backup"

take() {
  # libpq reads the password from this file, so that no program has it in its arguments. Written each time, because the
  # password may have changed.
  {
    printf '%s:%s:*:backup:' "$PRIMARY_HOST" "${PRIMARY_PORT:-5432}"
    sed -e 's/[\\:]/\\&/g' "$BACKUP_PASSWORD_FILE"
  } >"$passfile"
  # an interrupted backup is never taken for a complete one
  rm -rf "$BACKUPS/base/part"
  # includes the WAL written during the backup, so that it can be restored without the archive
  pg_basebackup --dbname="$primary" --no-password --pgdata="$BACKUPS/base/part" --wal-method=stream --checkpoint=fast
  pg_verifybackup --quiet "$BACKUPS/base/part"
  name=$(date -u +%Y%m%dT%H%M%SZ)
  [ ! -e "$BACKUPS/base/$name" ]
  mv "$BACKUPS/base/part" "$BACKUPS/base/$name"
  echo "base-backup: completed $BACKUPS/base/$name" >&2
}

complete() { ls "$BACKUPS/base" | grep -E '^[0-9]{8}T[0-9]{6}Z$' | sort; }

# Keeps the newest backup that is older than KEEP_DAYS: restoring an instant between it and the next one needs it.
remove_old() {
  oldest=$(complete | head -n 1)
  for name in $(complete); do
    [ -n "$(find "$BACKUPS/base/$name" -maxdepth 0 -mmin "+$((KEEP_DAYS * 1440))")" ] || break
    oldest=$name
  done
  for name in $(complete); do
    [ "$name" != "$oldest" ] || break
    rm -rf "$BACKUPS/base/part"
    mv "$BACKUPS/base/$name" "$BACKUPS/base/part"
    rm -rf "$BACKUPS/base/part"
    echo "base-backup: removed $BACKUPS/base/$name" >&2
  done
  [ -d "$BACKUPS/wal" ] || return 0
  first=$(sed -n 's/^START WAL LOCATION: .*(file \([0-9A-F]*\))$/\1/p' "$BACKUPS/base/$oldest/backup_label")
  pg_archivecleanup -x .gz "$BACKUPS/wal" "$first"
}

# Others may read the names of backups, which tell core how old the newest is, but not what is in them.
mkdir -p "$BACKUPS/base"
chmod 755 "$BACKUPS/base"

if [ "${1:-}" != daily ]; then
  take
  remove_old
  exit
fi
while :; do
  if [ -z "$(find "$BACKUPS/base" -maxdepth 1 -name '*Z' -mmin -1440)" ]; then
    take
    remove_old
  fi
  sleep 600
done
