-- Reliability of each venue that has not ended, over the last days, and of all these rows together. The most available
-- first.
--
-- $1 days of the window, today included; $2 category or null. One row {generated_at, body}.
with rows as materialized (
  select r.*, v.position
  from api.reliability(
    $1::int,
    array(select v.venue_id from api.venue v where not v.has_ended and ($2::text is null or v.category = $2))
  ) r
  left join api.venue v using (venue_id)
),
-- A rank claims no more than was measured: a venue ranks below those whose lower bound is above its upper one, which
-- were more available whatever happened in the unmeasured minutes. So venues with overlapping bounds share a rank, as
-- long as no venue lies between them.
ranked as (
  select (r.body ->> 'id') as id, r.position, count(o.venue_id) + 1 as rank
  from rows r
  left join rows o on o.venue_id is not null and (o.uptime)."uptimePctLow" > (r.uptime)."uptimePctHigh"
  where r.venue_id is not null and (r.uptime)."uptimePctHigh" is not null
  group by r.body ->> 'id', r.position
),
ranks as (
  select k.rank, json_agg(k.id order by k.position) as venues
  from ranked k
  group by k.rank
)
select
  k.generated_at,
  json_build_object(
    'generatedAt', api.iso(k.generated_at),
    'stale', false,
    'ageSeconds', null,
    'decidedAt', null,
    'days', $1::int,
    'fleet', (
      select json_build_object(
        'venues', (select count(*) from rows r where r.venue_id is not null),
        'uptimePct', (f.uptime)."uptimePct",
        'measuredMinutes', (f.uptime)."measuredMinutes",
        'scheduledMinutes', (f.uptime)."scheduledMinutes",
        'coveragePct', (f.uptime)."coveragePct",
        'uptimePctLow', (f.uptime)."uptimePctLow",
        'uptimePctHigh', (f.uptime)."uptimePctHigh",
        'withoutMaintenance', f.without_maintenance,
        'typicalP50Ms', f.typical_p50_ms,
        'typicalP95Ms', f.typical_p95_ms,
        'typicalHours', f.typical_hours,
        'incidents', f.incidents
      )
      from rows f
      where f.venue_id is null
    ),
    'venues', coalesce(
      (
        select json_agg(r.body order by (r.uptime)."uptimePct" desc nulls last, r.down_minutes, r.position)
        from rows r
        where r.venue_id is not null
      ),
      '[]'
    ),
    'ranks',
    coalesce(
      (select json_agg(json_build_object('rank', k.rank, 'venues', k.venues) order by k.rank) from ranks k), '[]'
    ),
    'excluded', api.excluded($1::int)
  )::text as body
from api.clock k
