#!/bin/sh
# PostgreSQL's archive_command: copies one finished segment of the WAL into the archive, compressed.
#
# Arguments: the segment, and its path in the archive without .gz
#
# PostgreSQL repeats the command until it succeeds, and keeps the segment until then. After a crash it may archive a
# segment again. That succeeds if the content is the same. Different content under the same name belongs to another
# server's history, and is never overwritten.
set -eu
umask 077

if [ -e "$2.gz" ]; then
  if gzip -dc "$2.gz" | cmp -s - "$1"; then
    rm -f "$2.part"
    exit
  fi
  echo "archive-wal: expected $2.gz to be missing or the same, found different content: do two servers write to one archive?" >&2
  exit 1
fi
mkdir -p "$(dirname "$2")"
gzip -c "$1" >"$2.part"
sync "$2.part"
# Even after a power failure the file is complete or missing. ln refuses to replace an existing file, unlike mv.
ln "$2.part" "$2.gz"
rm "$2.part"
sync "$(dirname "$2")"
