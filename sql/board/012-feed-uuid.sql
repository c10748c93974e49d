-- The id of something in a feed: a UUID of version 8, whose content is ours to choose (RFC 9562). The name must never
-- change, so it consists of slugs and row numbers, not of names that an operator may change.
create function api.feed_uuid(of_name text) returns uuid
language sql stable
return (
  select overlay(overlay(md5(f.identity::text || ' ' || of_name) placing '8' from 13) placing 'a' from 17)::uuid
  from feed_identity f
);
