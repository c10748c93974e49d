-- Make the registry's tables agree with the registry file.
--
-- $1 {regions: [{region, name}], venues: [{venue, name, category, symbol, quote, chain, officialKind, officialPage,
-- officialFeed (its name), officialAddress (null: as its name), about, notAbout, formerIds, entry, endsAt, components:
-- [{component, label, target, cadenceMs, stallAfterMs, stallBasis, entry (its fingerprint), endsAt, endsBecause}]}]},
-- in the order of the file. What the registry no longer contains is unpublished; what returns is published again, with
-- its history. Returns the components whose entry has changed. Run it after rename_venues.sql.
with given_regions as (
  select r.value ->> 'region' as region, r.value ->> 'name' as name, r.ordinality::smallint as position
  from jsonb_array_elements($1::jsonb -> 'regions') with ordinality r
),
given_venues as (
  select
    v.*,
    e.ordinality::smallint as position,
    api.like_any(v.about) as about_like,
    api.like_any(v."notAbout") as not_about_like,
    -- nobody's to measure from then on: unmeasured minutes are no gaps
    case
      when v."endsAt" is null then '{}'
      else tstzmultirange(tstzrange(greatest(v."endsAt", now()), null))
    end as ended
  from jsonb_array_elements($1::jsonb -> 'venues') with ordinality e
  cross join jsonb_to_record(e.value) as v (
    venue text, name text, category text, symbol text, quote text, chain text,
    "officialKind" text,
    "officialPage" text,
    "officialFeed" text,
    "officialAddress" text,
    about text[],
    "notAbout" text[],
    "formerIds" text[],
    entry jsonb,
    "endsAt" timestamptz,
    components jsonb
  )
),
-- a page without an API address is no feed
given_sources as (
  select distinct on (v."officialFeed")
    v."officialFeed" as api,
    v."officialAddress" as address,
    v."officialKind" as kind,
    v."officialPage" as page
  from given_venues v
  where v."officialFeed" is not null
  order by v."officialFeed", v.position
),
-- A venue's feed at a new address, maybe at another vendor. If the venues of a feed move apart, it goes with those that
-- stay with its vendor.
moved_sources as (
  select distinct on (m.to_api) m.*
  from (
    select distinct on (s.feed_id) s.feed_id, g.api as to_api, g.kind, g.page
    from given_sources g
    join given_venues v on v."officialFeed" = g.api
    join venue w on w.venue = v.venue
    join feed s on s.feed_id = w.feed_id
    where g.api not in (select o.api from feed o) and s.api not in (select o.api from given_sources o)
    order by s.feed_id, s.kind = g.kind desc, v.position
  ) m
  order by m.to_api, m.feed_id
),
-- feeds whose notices may have other ids from now on, or stand in other lists
changed_sources as (
  select m.feed_id, m.kind <> s.kind as changes_kind
  from moved_sources m
  join feed s using (feed_id)
  union all
  select s.feed_id, true
  from given_sources g
  join feed s using (api)
  where s.kind <> g.kind
),
given_components as (
  select
    v.venue,
    v.ended,
    c.*,
    left(encode(sha256(convert_to(s.salt || c.entry, 'UTF8')), 'base64'), 22) as fingerprint,
    e.ordinality::smallint as position
  from given_venues v
  cross join entry_salt s
  cross join jsonb_array_elements(v.components) with ordinality e
  cross join jsonb_to_record(e.value) as c (
    component text, label text, target text, "cadenceMs" int, "stallAfterMs" int, "stallBasis" text,
    entry text, "endsAt" timestamptz, "endsBecause" text
  )
),
-- The number of published regions from now on; before the first registry nothing was watched, and the current number is
-- assumed.
other_number as (
  update regions_published set holds_to = now()
  where holds_to = 'infinity' and regions <> (select count(*) from given_regions)
),
new_number as (
  insert into regions_published (holds_from, holds_to, regions)
  select case when exists (select from regions_published) then now() else '-infinity' end, 'infinity', count(*)
  from given_regions
  having count(*) not in (select p.regions from regions_published p where p.holds_to = 'infinity')
),
henceforth as (
  select tstzmultirange(tstzrange(now(), null)) as henceforth
),
gone_regions as (
  update region set published = false
  where published and region not in (select region from given_regions)
),
gone_venues as (
  update venue v set published = false, unwatched = v.unwatched + h.henceforth
  from henceforth h
  where v.published and v.venue not in (select venue from given_venues)
),
-- components of an unpublished venue stay published with it, in case it returns
gone_components as (
  update component c
  set published = c.published and v.venue not in (select venue from given_venues),
  unwatched = c.unwatched + h.henceforth
  from venue v
  cross join henceforth h
  where v.venue_id = c.venue_id and c.published
    and (v.published or v.venue in (select venue from given_venues))
    and not exists (select from given_components g where g.venue = v.venue and g.component = c.component)
),
gone_sources as (
  update feed s set published = false
  where s.published
    and s.api not in (select api from given_sources)
    and s.feed_id not in (select feed_id from moved_sources)
),
-- Existing rows are updated and new ones inserted separately: `on conflict` would draw an id for every row at every
-- start, and the smallint ids would run out.
kept_sources as (
  update feed s
  set
    kind = g.kind, page = g.page, published = true,
    due_at = case when s.kind = g.kind then s.due_at else '-infinity' end,
    feed_at = case when s.kind = g.kind then s.feed_at end
  from given_sources g
  where s.api = g.api
  returning s.feed_id, s.api
),
-- A feed that moves keeps its identity: earlier notices still belong to its venues. The content at its new address is
-- known at the next reading; until then no notice is in the feed, and none has vanished.
resettled_sources as (
  update feed s
  set api = m.to_api, kind = m.kind, page = m.page, published = true, due_at = '-infinity', feed_at = null
  from moved_sources m
  where s.feed_id = m.feed_id
  returning s.feed_id, s.api
),
resettled_notices as (
  update notice n
  set
    before_move = true,
    left_at = case when l.notice_id is not null then now() else n.left_at end,
    last_seen_at = greatest(n.last_seen_at, l.read_at),
    -- no later reading says when a present state of the former vendor ended
    over = n.over or l.scope is not distinct from 'now'
  from changed_sources m
  join notice o using (feed_id)
  left join lateral (
    select
      o.notice_id,
      o.scope,
      (select max(r.until_at) from feed_poll r where r.feed_id = o.feed_id and r.problem is null) as read_at
    -- a feed that lists only current notices ends one by omitting it, if it is still such a feed
    where o.left_at is null and (o.scope <> 'now' or m.changes_kind)
  ) l on true
  where n.notice_id = o.notice_id
),
new_sources as (
  insert into feed (api, kind, page)
  select g.api, g.kind, g.page
  from given_sources g
  where g.api not in (select s.api from feed s) and g.api not in (select m.to_api from moved_sources m)
  returning feed_id, api
),
all_sources as (
  select * from kept_sources union all select * from resettled_sources union all select * from new_sources
),
-- a former address is not kept
gone_addresses as (
  delete from feed_address a
  where not exists (
    select from all_sources s join given_sources g using (api) where s.feed_id = a.feed_id and g.address is not null
  )
),
kept_addresses as (
  insert into feed_address (feed_id, address)
  select s.feed_id, g.address
  from all_sources s
  join given_sources g using (api)
  where g.address is not null
  on conflict (feed_id) do update set address = excluded.address
),
kept_regions as (
  update region r set name = g.name, position = g.position, published = true
  from given_regions g
  where r.region = g.region
),
new_regions as (
  insert into region (region, name, position)
  select g.region, g.name, g.position
  from given_regions g
  where g.region not in (select r.region from region r)
  order by g.position
),
kept_venues as (
  update venue v
  set
    name = g.name, category = g.category, symbol = g.symbol, quote = g.quote, chain = g.chain,
    official_kind = g."officialKind", official_page = g."officialPage", feed_id = s.feed_id,
    official_about = g.about_like,
    official_not_about = g.not_about_like,
    former_ids = coalesce(g."formerIds", '{}'),
    entry = coalesce(g.entry, '{}'),
    ends_at = g."endsAt",
    position = g.position,
    published = true, unwatched = v.unwatched - h.henceforth + g.ended
  from given_venues g
  cross join henceforth h
  left join all_sources s on s.api = g."officialFeed"
  where v.venue = g.venue
  returning v.venue_id, v.venue
),
new_venues as (
  insert into venue (
    venue, name, category, symbol, quote, chain, official_kind, official_page, feed_id, official_about,
    official_not_about,
    former_ids, entry, ends_at, unwatched, position
  )
  select
    g.venue, g.name, g.category, g.symbol, g.quote, g.chain, g."officialKind", g."officialPage", s.feed_id,
    g.about_like,
    g.not_about_like, coalesce(g."formerIds", '{}'), coalesce(g.entry, '{}'), g."endsAt", g.ended, g.position
  from given_venues g
  left join all_sources s on s.api = g."officialFeed"
  where g.venue not in (select v.venue from venue v)
  order by g.position
  returning venue_id, venue
),
all_venues as (
  select * from kept_venues union all select * from new_venues
),
kept_components as (
  update component c
  set
    label = g.label, target = g.target, cadence_ms = g."cadenceMs", stall_after_ms = g."stallAfterMs",
    stall_basis = g."stallBasis",
    ends_at = g."endsAt", ends_because = g."endsBecause",
    position = g.position,
    published = true, unwatched = c.unwatched - h.henceforth + g.ended
  from given_components g
  join all_venues v using (venue)
  cross join henceforth h
  where c.venue_id = v.venue_id and c.component = g.component
  returning c.component_id, g.fingerprint
),
new_components as (
  insert into component (
    venue_id, component, label, target, cadence_ms, stall_after_ms, stall_basis, ends_at, ends_because, unwatched,
    position
  )
  select
    v.venue_id, g.component, g.label, g.target, g."cadenceMs", g."stallAfterMs", g."stallBasis", g."endsAt",
    g."endsBecause",
    g.ended,
    g.position
  from given_components g
  join all_venues v using (venue)
  where not exists (select from component c where c.venue_id = v.venue_id and c.component = g.component)
  order by v.venue_id, g.position
  returning component_id, venue_id, component
),
present_entries as (
  select k.component_id, k.fingerprint as entry from kept_components k
  union all
  select n.component_id, g.fingerprint
  from new_components n
  join all_venues v using (venue_id)
  join given_components g on g.venue = v.venue and g.component = n.component
)
-- a component whose entry has changed is judged again once it was good by the new one
insert into component_entry (component_id, holds_from, fingerprint)
select p.component_id, case when e.component_id is null then '-infinity' else now() end, p.entry
from present_entries p
left join lateral (
  select e.component_id, e.fingerprint
  from component_entry e
  where e.component_id = p.component_id
  order by e.holds_from desc
  limit 1
) e on true
where e.fingerprint is distinct from p.entry
returning component_id
