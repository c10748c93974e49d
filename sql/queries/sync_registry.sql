-- Make the tables of what is watched agree with the registry.
--
-- $1 {regions: [{region, name}], venues: [{venue, name, category, symbol, quote, chain, officialKind, officialPage,
-- components: [{component, label, target, cadenceMs, stallAfterMs}]}]}, in the order of the file.
-- What the registry no longer names is unpublished; what it names again is published again, with its history.
with given_regions as (
  select r.value ->> 'region' as region, r.value ->> 'name' as name, r.ordinality::smallint as position
  from jsonb_array_elements($1::jsonb -> 'regions') with ordinality r
),
given_venues as (
  select v.*, e.ordinality::smallint as position
  from jsonb_array_elements($1::jsonb -> 'venues') with ordinality e
  cross join jsonb_to_record(e.value) as v (
    venue text, name text, category text, symbol text, quote text, chain text,
    "officialKind" text, "officialPage" text, components jsonb
  )
),
given_components as (
  select v.venue, c.*, e.ordinality::smallint as position
  from given_venues v
  cross join jsonb_array_elements(v.components) with ordinality e
  cross join jsonb_to_record(e.value) as c (
    component text, label text, target text, "cadenceMs" int, "stallAfterMs" int
  )
),
gone_regions as (
  update region set published = false
  where published and region not in (select region from given_regions)
),
gone_venues as (
  update venue set published = false
  where published and venue not in (select venue from given_venues)
),
gone_components as (
  update component c set published = false
  from venue v
  where v.venue_id = c.venue_id and c.published
    and v.venue in (select venue from given_venues)
    and not exists (select from given_components g where g.venue = v.venue and g.component = c.component)
),
kept_regions as (
  insert into region (region, name, position)
  select region, name, position from given_regions
  on conflict (region) do update set name = excluded.name, position = excluded.position, published = true
),
kept_venues as (
  insert into venue (venue, name, category, symbol, quote, chain, official_kind, official_page, position)
  select venue, name, category, symbol, quote, chain, "officialKind", "officialPage", position from given_venues
  on conflict (venue) do update set
    name = excluded.name, category = excluded.category, symbol = excluded.symbol, quote = excluded.quote,
    chain = excluded.chain, official_kind = excluded.official_kind, official_page = excluded.official_page,
    position = excluded.position, published = true
  returning venue_id, venue
)
insert into component (venue_id, component, label, target, cadence_ms, stall_after_ms, position)
select v.venue_id, g.component, g.label, g.target, g."cadenceMs", g."stallAfterMs", g.position
from given_components g
join kept_venues v using (venue)
on conflict (venue_id, component) do update set
  label = excluded.label, target = excluded.target, cadence_ms = excluded.cadence_ms,
  stall_after_ms = excluded.stall_after_ms, position = excluded.position, published = true
