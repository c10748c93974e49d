-- The impairments that turned out to be the region's own: those that ended, but not because others saw the same; and
-- those that have lasted for as long as others may need to see it. An outage that reaches one region some seconds
-- before the others also looks like an impairment, but is real downtime.
create view api.own_impairment as
select i.region_id, i.started_at, i.ended_at, i.venues, i.beside
from impairment i
cross join engine_clock e
where case
  when i.ended_at is not null then not i.seen_elsewhere
  else i.recognised_at <= e.ticked_at - (
    select (f.rules ->> 'impaired_within_ms')::int
    from rules_in_force f
    where f.holds_from <= e.ticked_at
    order by f.holds_from desc
    limit 1
  ) * interval '1 millisecond'
end;

-- What was excluded from a window, and why: impairments of regions, whose minutes count in no uptime. Not on days that
-- were written as days.
create function api.excluded(window_days integer) returns json
language sql stable
begin atomic
  select coalesce(
    json_agg(
      json_build_object(
        'region', g.region,
        'from', api.iso(e.from_at),
        'to', api.iso(e.to_at),
        'minutes', extract(epoch from least(e.to_at, w.published_to) - e.from_at)::int / 60,
        'reason', case when cardinality(i.beside) > 0 then 'vantage impaired' else 'region impaired' end,
        'venues', i.venues
      )
      order by e.from_at desc, g.position
    ),
    '[]'
  )
  from api.own_impairment i
  join region g using (region_id)
  cross join (
    select
      greatest((c.today - window_days + 1)::timestamp at time zone 'UTC', c.days_from) as from_at,
      c.published_to,
      k.generated_at
    from api.counted_to c
    cross join api.clock k
  ) w
  -- the whole minutes that it overlaps, of which the last may not be over yet
  cross join lateral (
    select
      greatest(time_bucket('1 minute', i.started_at), w.from_at) as from_at,
      case
        when i.ended_at is not null
          then least(time_bucket('1 minute', i.ended_at) + interval '1 minute', w.generated_at)
      end as to_at
  ) e
  where g.published
    and coalesce(e.to_at, 'infinity') > e.from_at
    and e.from_at < w.published_to;
end;
