-- Give each venue that the registry has renamed its new id: the row stays, and with it all history.
--
-- $1 [{venue, formerIds}]. Returns a row {venue, rows} for each venue of the registry with several rows in the
-- database: each has its own history, and then nothing is renamed.
--
-- Other references by id follow: filters of channels, and the venues by which impairments were recognised. Slugs of
-- incidents are unchanged, because they were already sent out.
with given as (
  select g.venue, g."formerIds" as former_ids
  from jsonb_to_recordset($1::jsonb) as g (venue text, "formerIds" text[])
),
found as materialized (
  select v.venue_id, v.venue as was, g.venue as becomes
  from given g
  join venue v on v.venue = g.venue or v.venue = any (g.former_ids)
),
several as materialized (
  select f.becomes, array_agg(f.was order by f.was) as rows
  from found f
  group by f.becomes
  having count(*) > 1
),
renamed as materialized (
  select f.* from found f where f.was <> f.becomes and not exists (select from several)
),
venues as (
  update venue v set venue = r.becomes from renamed r where v.venue_id = r.venue_id
),
channels as (
  update channel c
  set venues = (
    -- a filter that has both ids keeps one
    select array_agg(distinct coalesce(r.becomes, f.venue) order by coalesce(r.becomes, f.venue))
    from unnest(c.venues) as f (venue)
    left join renamed r on r.was = f.venue
  )
  where c.venues && (select array_agg(r.was) from renamed r)
),
impairments as (
  update impairment i
  set venues = (
    select array_agg(coalesce(r.becomes, f.venue) order by coalesce(r.becomes, f.venue))
    from unnest(i.venues) as f (venue)
    left join renamed r on r.was = f.venue
  )
  where i.venues && (select array_agg(r.was) from renamed r)
)
select s.becomes as venue, s.rows from several s order by s.becomes
