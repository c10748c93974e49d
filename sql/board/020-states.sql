-- Current state of each published component, by quorum and by region, and of each venue as a whole. Without a row, or
-- if the engine is silent, it reads `unknown` since that began; a state that was unknown before the silence keeps its
-- start.

create view api.component as
select
  v.venue_id,
  v.venue,
  c.component_id,
  c.component,
  c.kind,
  split_part(c.component, ':', 2) as name,
  c.label,
  c.target,
  c.cadence_ms,
  c.stall_after_ms,
  v.position as venue_position,
  c.position
from component c
join venue v using (venue_id)
where c.published and v.published;

create view api.component_state as
select
  c.component_id,
  c.venue_id,
  case when k.engine_fresh then coalesce(s.state, 'unknown') else 'unknown' end as state,
  case
    when k.engine_fresh then coalesce(s.since, k.ticked_at)
    else least(k.silent_at, case when s.state = 'unknown' then s.since end)
  end as since,
  -- why it is unknown although it is measured: never, ended or blocked (table unjudged); else null
  case when k.engine_fresh then u.reason end as unjudged,
  case when k.engine_fresh then u.started_at end as unjudged_since
from api.component c
cross join api.clock k
left join component_state s using (component_id)
left join unjudged u
  on u.component_id = c.component_id
  and u.started_at <= k.ticked_at
  and coalesce(u.ended_at, 'infinity') > k.ticked_at;

create view api.region_state as
select
  c.component_id,
  c.venue_id,
  g.region_id,
  case when k.engine_fresh then coalesce(s.state, 'unknown') else 'unknown' end as state,
  coalesce(s.reporting and k.engine_fresh, false) as reporting,
  s.newest_at,
  s.newest_fault
from api.component c
cross join region g
cross join api.clock k
left join region_state s on s.component_id = c.component_id and s.region_id = g.region_id
where g.published;

create view api.venue as
select
  v.venue_id,
  v.venue,
  v.name,
  v.category,
  v.symbol,
  v.quote,
  v.chain,
  v.official_kind,
  v.official_page,
  v.entry,
  v.position,
  -- off the board: only its history is shown
  coalesce(v.ends_at <= k.generated_at, false) as has_ended,
  case when k.engine_fresh then coalesce(s.state, 'unknown') else 'unknown' end as state,
  case
    when k.engine_fresh then coalesce(s.since, k.ticked_at)
    else least(k.silent_at, case when s.state = 'unknown' then s.since end)
  end as since
from venue v
cross join api.clock k
left join venue_state s using (venue_id)
where v.published;

-- The worst confirmed state of a set of venues, or of what one region sees of a venue's components: unknown while fewer
-- than half of them are known, and an outage when at least half of all of them are in outage.
create function api.worst(venues bigint, known bigint, outage bigint, bad bigint) returns state
language sql immutable parallel safe
return case
  when known = 0 or known * 2 < venues then 'unknown'
  when outage * 2 >= venues then 'outage'
  when bad > 0 then 'degraded'
  else 'operational'
end::state;

-- The running probes of each region, or the one that was last alive if none is. By the last heartbeat that a tick found
-- (upkeep.show_probes) and that is not after the instant: while the engine is silent they stay as they were.
create view api.probe as
select p.*
from (
  select
    s.venues,
    p.*,
    p.alive_until > k.generated_at as alive,
    row_number() over (
      partition by p.region_id order by p.alive_until > k.generated_at desc, p.seen_at desc, p.process
    ) as place
  from api.clock k
  cross join lateral (
    select distinct on (n.region_id, n.process) n.venues, n.probe
    from shown_probe n
    where n.seen_at <= k.generated_at
    order by n.region_id, n.process, n.seen_at desc
  ) s
  cross join lateral jsonb_populate_record(
    null::probe,
    -- by its own clock, which may be ahead
    s.probe || jsonb_build_object(
      'started_at', least((s.probe ->> 'started_at')::timestamptz, (s.probe ->> 'seen_at')::timestamptz)
    )
  ) p
) p
where p.alive or p.place = 1;

-- Which regions deliver samples now, and how many? Measured, not configured. Also which are impaired, while the engine
-- is there to say so.
create view api.region as
select
  g.region_id,
  g.region,
  g.name,
  g.position,
  recent.ts is not null as reporting,
  coalesce(recent.ts, known.ts) as newest_at,
  coalesce(shipped.samples, 0) as samples_last_hour,
  coalesce(shipped.good, 0) as good_last_hour,
  newest.version as probe_version,
  newest.started_at as probe_started_at,
  newest.seen_at as probe_seen_at,
  newest.unmeasured,
  i.started_at as impaired_since,
  i.recognised_at as impairment_recognised_at,
  i.venues as impaired_by,
  i.measured as impaired_of
from region g
cross join api.clock k
left join (
  -- several probes: the version is that of the latest heartbeat
  select
    p.region_id,
    (array_agg(p.version order by p.seen_at desc))[1] as version,
    min(p.started_at) as started_at,
    max(p.seen_at) as seen_at,
    sum(p.unmeasured)::bigint as unmeasured
  from api.probe p
  group by p.region_id
) newest using (region_id)
left join lateral (
  -- From raw samples, so that it also holds without an engine. The newest known sample is among the first rows; only
  -- for a silent region is a whole minute read.
  select s.ts
  from sample s
  where s.region_id = g.region_id and s.ts > k.generated_at - interval '1 minute' and s.ts <= k.generated_at
    and api.known_by(k.generated_at, s.ts, s.received_after_s)
    -- for the planner, which excludes chunks only by now()
    and s.ts > now() - interval '10 minutes'
  order by s.ts desc
  limit 1
) recent on true
left join (
  select s.region_id, max(s.newest_at) as ts
  from region_state s
  group by s.region_id
) known using (region_id)
left join (
  -- the newest hour of published minutes
  select m.region_id, sum(m.samples)::int as samples, sum(m.good)::int as good
  from sample_minute m, api.clock k
  where m.minute >= k.published_to - interval '1 hour' and m.minute < k.published_to
    -- if the engine has been silent for this long, no published minute is of the last hour
    and m.minute > k.generated_at - interval '2 hours'
    -- for the planner, which excludes chunks only by now()
    and m.minute > now() - interval '3 hours'
  group by m.region_id
) shipped using (region_id)
left join impairment i on i.region_id = g.region_id and i.ended_at is null and k.engine_fresh
where g.published;
