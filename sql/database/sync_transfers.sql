-- Make the tables of transfers agree with the registry: assets, networks, how venues spell them, and where each venue
-- says what is open.
--
-- $1 {assets: [{id, name}], networks: [{id, name}], spellings: [{subject, venue, spelt, means}], sources: [{venue,
-- kind, api, because}]}, assets in the order of the board. What the registry no longer contains is unpublished; what
-- returns is published again, with its history. Returns the venues whose list is new or has moved. Run it after
-- sync_registry.sql.
with given_assets as (
  select a.value ->> 'id' as asset, a.value ->> 'name' as name, a.ordinality::smallint as position
  from jsonb_array_elements($1::jsonb -> 'assets') with ordinality a
),
given_networks as (
  select n.id as network, n.name from jsonb_to_recordset($1::jsonb -> 'networks') as n (id text, name text)
),
given_spellings as (
  select s.* from jsonb_to_recordset($1::jsonb -> 'spellings') as s (subject text, venue text, spelt text, means text)
),
given_sources as (
  select v.venue_id, s.kind, s.api, s.because
  from jsonb_to_recordset($1::jsonb -> 'sources') as s (venue text, kind text, api text, because text)
  join venue v using (venue)
),
gone_assets as (
  update transfer_asset set published = false where published and asset not in (select asset from given_assets)
),
kept_assets as (
  insert into transfer_asset as a (asset, name, position)
  select g.asset, g.name, g.position from given_assets g
  on conflict (asset) do update
    set name = excluded.name, position = excluded.position, published = true
    where (a.name, a.position, a.published) is distinct from (excluded.name, excluded.position, true)
),
gone_networks as (
  update transfer_network set published = false where published and network not in (select network from given_networks)
),
kept_networks as (
  insert into transfer_network as n (network, name)
  select g.network, g.name from given_networks g
  on conflict (network) do update
    set name = excluded.name, published = true
    where (n.name, n.published) is distinct from (excluded.name, true)
),
gone_spellings as (
  delete from transfer_spelling s
  where not exists (
    select from given_spellings g where (g.subject, g.venue, g.spelt, g.means) = (s.subject, s.venue, s.spelt, s.means)
  )
),
gone_sources as (
  update transfer_source s set published = false
  where s.published and s.venue_id not in (select venue_id from given_sources)
),
-- A list that moves to another address or format keeps what is known; its own time starts again.
kept_sources as (
  insert into transfer_source as s (venue_id, kind, because)
  select g.venue_id, g.kind, g.because from given_sources g
  on conflict (venue_id) do update
    set kind = excluded.kind, because = excluded.because, published = true, due_at = '-infinity', list_at = null,
      list_moved_at = null, unended_readings = 0
    where (s.kind, s.because, s.published) is distinct from (excluded.kind, excluded.because, true)
      or excluded.kind is not null and not exists (
        select
        from transfer_address a
        join given_sources g using (venue_id)
        where a.venue_id = s.venue_id and a.address = g.api
      )
  returning s.venue_id
),
-- lines whose name the registry knows now, or means otherwise
renamed_lines as (
  update transfer_line l
  set network = m.means
  from (
    select l.line_id, n.means
    from transfer_line l
    join venue v using (venue_id)
    left join lateral (
      select g.means
      from given_spellings g
      where g.subject = 'network' and g.spelt = lower(l.venue_network) and g.venue in (v.venue, '')
      order by g.venue desc
      limit 1
    ) n on true
  ) m
  where m.line_id = l.line_id and m.means is distinct from l.network
)
select k.venue_id from kept_sources k
