-- What the registry says of its entries: how old they are, when something ends, and since when each is as it is.

alter table venue
  -- {sources, checkedAt, until, limits, blockedIn, edgeCacheMs}, of the entry; a field that it lacks is missing
  add column entry jsonb not null default '{}';

alter table component
  -- from then on it is unknown, and nothing is concluded from its samples; null: no end is known
  add column ends_at timestamptz,
  add column ends_because text;

alter table region_state
  -- at least half of what failed within its window was refused (blocked)
  add column refused boolean not null default false;
create index region_state_refused on region_state (component_id, region_id) where refused;

-- The versions of each component's entry. A component is judged only after it was good once by its present entry: until
-- then, an entry that is wrong here looks the same as a venue that is down.
create table component_entry (
  component_id integer not null references component,
  -- the first version is from ever on
  holds_from   timestamptz not null,
  -- of its host, path, proof and subscription
  fingerprint  text not null,
  -- the instant at which a region first saw it good; null: none has
  good_at      timestamptz,
  primary key (component_id, holds_from)
);

-- a component that was measured before this table existed has been good
insert into component_entry (component_id, holds_from, fingerprint, good_at)
select c.component_id, '-infinity', '', '-infinity'
from component c;
