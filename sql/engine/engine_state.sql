-- How far the engine is behind, and which feeds can be read. $1 distance between instants, milliseconds. One row;
-- before the first tick the engine is behind since the creation of the database.
select
  extract(epoch from n.now - d.newest_at)::float8 as behind_seconds,
  -- instants of the grid that have passed since the last decided one
  greatest(
    0, floor(extract(epoch from n.now) * 1000 / $1::int) - floor(extract(epoch from d.newest_at) * 1000 / $1::int)
  )::int
    as instants_behind,
  (select count(*)::int from incident i where i.closed_at is null and i.retracted_at is null) as incidents_open,
  f.feeds
from (select clock_timestamp() as now) n
cross join (
  select coalesce((select e.ticked_at from engine_clock e), (select min(m.applied_at) from migration m)) as newest_at
) d
cross join (
  -- [{kind, api, readable}]
  select coalesce(
    jsonb_agg(
      jsonb_build_object(
        'kind', s.kind,
        'api', s.api,
        'readable', exists (
          select
          from (select r.* from feed_poll r where r.feed_id = s.feed_id order by r.from_at desc limit 1) r
          where r.problem is null and r.until_at >= clock_timestamp() - api.feed_silent_after()
        )
      )
    ),
    '[]'
  ) as feeds
  from feed s
  where s.published and not api.feed_has_ended(s.feed_id)
) f
