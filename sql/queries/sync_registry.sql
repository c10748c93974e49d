-- Make the tables of what is watched agree with the registry.
--
-- $1 {regions: [{region, name}], venues: [{venue, name, category, symbol, quote, chain, officialKind, officialPage, officialApi,
-- about, notAbout, components: [{component, label, target, cadenceMs, stallAfterMs}]}]}, in the order of the file.
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
    "officialKind" text, "officialPage" text, "officialApi" text, about text[], "notAbout" text[], components jsonb
  )
),
-- a page without an address for programs is no feed
given_sources as (
  select distinct on (v."officialApi") v."officialApi" as api, v."officialKind" as kind, v."officialPage" as page
  from given_venues v
  where v."officialApi" is not null
  order by v."officialApi", v.position
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
gone_sources as (
  update official_source set published = false
  where published and api not in (select api from given_sources)
),
kept_sources as (
  insert into official_source (api, kind, page)
  select api, kind, page from given_sources
  on conflict (api) do update set kind = excluded.kind, page = excluded.page, published = true
  returning source_id, api
),
kept_regions as (
  insert into region (region, name, position)
  select region, name, position from given_regions
  on conflict (region) do update set name = excluded.name, position = excluded.position, published = true
),
kept_venues as (
  insert into venue (
    venue, name, category, symbol, quote, chain, official_kind, official_page, source_id, official_about, official_not_about,
    position
  )
  select
    v.venue, v.name, v.category, v.symbol, v.quote, v.chain, v."officialKind", v."officialPage", s.source_id, v.about,
    v."notAbout", v.position
  from given_venues v
  left join kept_sources s on s.api = v."officialApi"
  on conflict (venue) do update set
    name = excluded.name, category = excluded.category, symbol = excluded.symbol, quote = excluded.quote,
    chain = excluded.chain, official_kind = excluded.official_kind, official_page = excluded.official_page,
    source_id = excluded.source_id, official_about = excluded.official_about, official_not_about = excluded.official_not_about,
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
