#!/bin/sh
# Copies one finished segment of the WAL into the archive, compressed; PostgreSQL's archive_command.
#
# Arguments: the segment, and its place in the archive without .gz
#
# PostgreSQL repeats it until it succeeds, and keeps the segment until then. It may also ask again for a segment that is there, after a crash: that
# succeeds where the content is the same. Another content under the same name is another server's history, and is never overwritten.
set -eu
umask 077

if [ -e "$2.gz" ]; then
  if gzip -dc "$2.gz" | cmp -s - "$1"; then
    rm -f "$2.part"
    exit
  fi
  echo "archive-wal: expected $2.gz to be missing or the same, found another content: do two servers write to one archive?" >&2
  exit 1
fi
mkdir -p "$(dirname "$2")"
gzip -c "$1" >"$2.part"
sync "$2.part"
# complete or not there at all, also after a loss of power; ln refuses what exists, where mv would replace it
ln "$2.part" "$2.gz"
rm "$2.part"
sync "$(dirname "$2")"
