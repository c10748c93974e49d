-- Give back a feed that was claimed and not read, for the next one. $1 source; $2 until when it was claimed.
update official_source set due_at = now() where source_id = $1::integer and due_at = $2::timestamptz
