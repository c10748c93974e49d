#!/bin/sh
# Restores a server from a base backup and the archived WAL, as the user that PostgreSQL runs as, while the server is
# stopped.
#
# PGDATA                 the server's directory. Its former content is moved into PGDATA/damaged-INSTANT, never deleted
# BACKUPS (/backups)     the directory of base-backup.sh and archive-wal.sh
# SERVER_OPTIONS         options of the server, for the recovery
# PRIMARY_HOST           and PRIMARY_PORT (5432): where the server would answer if it ran
# TIMELINE (latest)      PostgreSQL's timeline, if an earlier restore branched off too soon: 1 is the first
#
# Arguments: the instant to restore, such as 2026-11-22T14:02:00Z; nothing or '' for everything that was written. The
# script ends when the data is restored, and leaves the server stopped. After the instant you can give a program that
# recovers instead (postgres and its options), to look at the data that would be restored.
set -eu
umask 077

BACKUPS=${BACKUPS:-/backups}
until=${1:-}
[ $# = 0 ] || shift
fail() {
  echo "restore: $1" >&2
  exit 1
}

if [ -n "$until" ]; then
  echo "$until" | grep -Eq '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z$' ||
    fail "expected an instant in UTC such as 2026-11-22T14:02:00Z, got $until"
fi
if [ -n "${PRIMARY_HOST:-}" ] && pg_isready --quiet --host="$PRIMARY_HOST" --port="${PRIMARY_PORT:-5432}" ||
  pg_ctl --pgdata="$PGDATA" status >/dev/null 2>&1; then
  fail "the server still runs: stop it and all programs that write to it first"
fi

# the newest backup that was complete before that instant
latest=$(echo "${until:-9}" | sed -e 's/\.[0-9]*//' -e 's/[-:]//g')
name=$(ls "$BACKUPS/base" | grep -E '^[0-9]{8}T[0-9]{6}Z$' | sort | awk -v latest="$latest" '$0 < latest' | tail -n 1)
[ -n "$name" ] || fail "expected a backup in $BACKUPS/base that is older than ${until:-now}, found none"

aside=$PGDATA/damaged-$(date -u +%Y%m%dT%H%M%SZ)
mkdir -p "$aside"
find "$PGDATA" -mindepth 1 -maxdepth 1 ! -name 'damaged-*' -exec mv {} "$aside" \;
echo "restore: copying $BACKUPS/base/$name" >&2
cp -a "$BACKUPS/base/$name/." "$PGDATA"
chmod 700 "$PGDATA"

# WAL that was not archived yet may still be in the former server's pg_wal. The settings are removed after the recovery:
# a replica that copied them would stop at this instant, too. When it starts, PostgreSQL does not know the zone Z yet.
from=
if [ -d "$aside/pg_wal" ]; then from=" || cp \"$aside/pg_wal/%f\" \"%p\""; fi
rmdir "$aside" 2>/dev/null || echo "restore: the former data is in $aside" >&2
cat >>"$PGDATA/postgresql.auto.conf" <<END
restore_command = 'gzip -dc <"$BACKUPS/wal/%f.gz" >"%p"$from' # until restored
recovery_target_time = '$(echo "$until" | sed 's/Z$/+00/')' # until restored
recovery_target_timeline = '${TIMELINE:-latest}' # until restored
recovery_target_action = 'promote' # until restored
recovery_end_command = 'sed -i "/# until restored\$/d" postgresql.auto.conf' # until restored
END
touch "$PGDATA/recovery.signal"
[ $# = 0 ] || exec "$@"

# No client can connect before the recovery is complete. pg_ctl only waits until the recovery has begun, and a server
# that is stopped as the recovery ends may replay beyond the instant at its next start. So the server is stopped only
# when it is in production. By then it has archived the history file of the new timeline, which the next restore must
# find.
pg_ctl --pgdata="$PGDATA" --options="${SERVER_OPTIONS:-} -c listen_addresses= -c hot_standby=off" --wait --timeout=3600 start ||
  fail "the recovery did not begin, see above"
until LC_ALL=C pg_controldata "$PGDATA" | grep -q '^Database cluster state: *in production$'; do
  pg_ctl --pgdata="$PGDATA" status >/dev/null || fail "the recovery failed, see above"
  sleep 1
done
pg_ctl --pgdata="$PGDATA" --mode=fast --wait --timeout=3600 stop
echo "restore: done, ${until:-everything that was written}" >&2
