-- What each region by itself sees of components and venues, for those who ask "or is it just me?" (docs/rulebook.md,
-- chapter 5).

alter table region_state
  -- `state`, but unknown where the region has no say: it does not report, is impaired, or nothing is concluded from any
  -- sample
  add column sees state,
  add column sees_since timestamptz;

create table region_venue_state (
  region_id smallint not null references region,
  venue_id  smallint not null references venue,
  state     state not null,
  since     timestamptz not null,
  primary key (venue_id, region_id)
) with (fillfactor = 50);

alter table change_event
  -- null: by quorum; else what this region by itself sees
  add column region_id smallint references region,
  add check (region_id is null or slug is null);
