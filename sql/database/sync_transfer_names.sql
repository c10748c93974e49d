-- Store how venues spell assets and networks, and the addresses of their lists: what sync_transfers.sql has made room
-- for. $1 as there. Returns the addresses that were stored.
with spellings as (
  insert into transfer_spelling (subject, venue, spelt, means)
  select s.subject, s.venue, s.spelt, s.means
  from jsonb_to_recordset($1::jsonb -> 'spellings') as s (subject text, venue text, spelt text, means text)
  on conflict do nothing
),
gone as (
  delete from transfer_address a
  where a.venue_id not in (
    select v.venue_id
    from jsonb_to_recordset($1::jsonb -> 'sources') as s (venue text, api text)
    join venue v using (venue)
    where s.api is not null
  )
)
insert into transfer_address as a (venue_id, address)
select v.venue_id, s.api
from jsonb_to_recordset($1::jsonb -> 'sources') as s (venue text, api text)
join venue v using (venue)
where s.api is not null
on conflict (venue_id) do update set address = excluded.address where a.address <> excluded.address
returning a.venue_id
