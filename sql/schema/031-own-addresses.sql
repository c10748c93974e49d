-- Addresses of an operator may contain keys. What others than core may read has only their origins, and names of feeds
-- in the place of their addresses.

-- the registry's sync that follows writes what the catalogue has in full again
update component set target = regexp_replace(target, '^([a-z]+://[^/?#]+)[/?#].+$', '\1/…');

-- where a feed is, if its name in official_source.api is not its address; only core may read it
create table feed_address (
  source_id integer primary key references official_source,
  address   text not null
);

-- those of the registry are named by the sync
update official_source
set api = regexp_replace(api, '^([a-z]+://[^/?#]+).*$', '\1/…') || ' (' || source_id || ')'
where not published;

-- begins with the address of the document, of which the host stays
update official_reading
set problem = regexp_replace(problem, '^([^/\s]+)/\S*(?=: )', '\1/…')
where problem is not null;

-- Part of every fingerprint: without it, a reader of component_entry could guess a short key.
create table entry_salt (
  -- there is one row
  one_row boolean primary key default true check (one_row),
  salt    text not null default gen_random_uuid()::text || gen_random_uuid()
);

insert into entry_salt default values;

update component_entry e
set fingerprint = left(encode(sha256(convert_to(s.salt || e.fingerprint, 'UTF8')), 'base64'), 22)
from entry_salt s
where e.fingerprint <> '';
