-- For which channels does something wait that the asker cannot send? $1 how what it can read begins; empty: it has no key. {channels},
-- their numbers; null where there is none.
select array_agg(c.channel_id order by c.channel_id) as channels
from channel c
where c.removed_at is null and c.off_at is null
  and (length($1::bytea) = 0 or substring(c.destination for length($1::bytea)) <> $1)
  and exists (
    select from delivery d where d.channel_id = c.channel_id and d.state = 'due' and d.cause in ('event', 'open')
  )
