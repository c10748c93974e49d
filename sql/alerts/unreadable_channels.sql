-- Channels with deliveries that the caller cannot decrypt and no other core sends. $1 prefix of what its key can
-- decrypt; empty: it has no key; $2 for how long they have waited, milliseconds. {channels}, their numbers; null if
-- there are none.
select array_agg(c.channel_id order by c.channel_id) as channels
from channel c
where c.removed_at is null and c.off_at is null
  and (length($1::bytea) = 0 or substring(c.destination for length($1::bytea)) <> $1)
  and exists (
    select from delivery d
    where d.channel_id = c.channel_id and d.state = 'due' and d.cause in ('event', 'open')
      and d.first_claimed_at is null and d.due_at <= clock_timestamp() - $2::int * interval '1 millisecond'
  )
  and not exists (
    select from delivery u
    where u.channel_id = c.channel_id
      and u.state = 'due'
      and u.cause in ('event', 'open')
      and u.claimed_until > clock_timestamp()
  )
