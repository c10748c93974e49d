-- How reliable was each venue over the last days, and all of these rows together? The most available first.
--
-- $1 days of the window, today included; $2 category or null. One row {generated_at, body}.
with rows as materialized (
  select r.*, v.position
  from api.reliability(
    $1::int, array(select v.venue_id from api.venue v where $2::text is null or v.category = $2)
  ) r
  left join api.venue v using (venue_id)
)
select
  k.generated_at,
  json_build_object(
    'generatedAt', api.iso(k.generated_at),
    'days', $1::int,
    'fleet', (
      select json_build_object(
        'venues', (select count(*) from rows r where r.venue_id is not null),
        'uptimePct', f.uptime_pct,
        'typicalP50Ms', f.typical_p50_ms,
        'typicalP95Ms', f.typical_p95_ms,
        'incidents', f.incidents
      )
      from rows f
      where f.venue_id is null
    ),
    'venues', coalesce(
      (
        select json_agg(r.body order by r.uptime_pct desc nulls last, r.down_minutes, r.position)
        from rows r
        where r.venue_id is not null
      ),
      '[]'
    )
  )::text as body
from api.clock k
