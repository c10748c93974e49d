-- How our incidents compare with the venues' own notices.

-- Our incidents and the venues' notices of a period: one row per pair, and one per incident or notice without a pair. A
-- pair is an incident and a notice that are each the nearest of the other, so the notice shown beside an incident is
-- always that of its pair. `near` says whether the other side has anything within six hours: if one notice covers eight
-- incidents of one outage, seven are not paired, but are not ours alone either.
--
-- `compared` says what counts: an incident if we know the feed's content from six hours before it to six hours after
-- (so that time is over), together with its paired notice; an unpaired notice once its six hours are over, if we
-- measured the venue within a quarter of an hour of its start. Otherwise gaps in our measurements would count as the
-- venue's silence, and gaps in reading the feed against the venue.
create function api.compared(from_at timestamptz, to_at timestamptz, venue_ids smallint[])
returns table (
  venue_id          smallint,
  incident_id       bigint,
  notice_id         bigint,
  near              boolean,
  compared          boolean,
  -- of the incident; for a notice alone, its own
  started_at        timestamptz,
  notice_started_at timestamptz,
  -- incident, maintenance or other; null without a notice
  kind              text,
  -- false for notices that cannot be paired: another kind, implausible times, a feed that reports no incidents
  pairable          boolean,
  ahead_seconds     integer
)
language sql stable
-- The planner estimates that the registry's patterns let one notice through, and would scan all notices for each
-- incident.
set enable_nestloop = off
begin atomic
  with feeds as materialized (
    select f.venue_id, f.feed_id, f.tells_incidents
    from api.feed f
    where f.venue_id = any (venue_ids) and f.feed_id is not null
  ),
  known as materialized (
    select g.*
    from api.feed_coverage(
      (select array_agg(f.feed_id) from feeds f), from_at - api.paired_within(), to_at + api.paired_within()
    ) g
  ),
  incidents as materialized (
    select
      row_number() over ()::int as no,
      c.venue_id,
      i.incident_id,
      i.started_at,
      i.opened_at,
      date_bin(api.paired_within(), i.started_at, 'epoch') as quarter,
      coalesce(
        k.seen @> tstzrange(i.started_at - api.paired_within(), i.started_at + api.paired_within(), '[]'), false
      ) as compared
    from incident i
    join component c using (component_id)
    join feeds f using (venue_id)
    left join known k using (feed_id)
    where f.tells_incidents and i.retracted_at is null and i.started_at >= from_at and i.started_at <= to_at
  ),
  -- materialized, so that a notice is classified once
  classified as materialized (
    select n.venue_id, n.notice_id, n.started_at, n.posted_at, n.kind, n.doubtful
    from api.notice n
    where n.venue_id = any (venue_ids) and n.started_at >= from_at and n.started_at <= to_at
  ),
  notices as materialized (
    select
      row_number() over ()::int as no,
      n.venue_id,
      n.notice_id,
      n.started_at,
      n.posted_at,
      n.kind,
      p.pairable,
      p.pairable
        and n.started_at <= k.generated_at - api.paired_within()
        and (
          -- with at most fourteen minutes missing, every half hour has a measured minute, also the part of it within
          -- this day
          d.measured_minutes >= 1426
          -- a day without measurements has none, unless the neighbouring day is near
          or (d.measured_minutes > 0 or (n.started_at at time zone 'UTC')::time not between '00:15' and '23:45')
          and (
            select m.minute
            from venue_minute m
            where m.venue_id = n.venue_id
              and m.minute between n.started_at - interval '15 minutes' and n.started_at + interval '15 minutes'
            -- ordered, so that the search stops at the first chunk with a match
            order by m.minute
            limit 1
          ) is not null
        ) is true as compared
    from classified n
    join feeds f using (venue_id)
    cross join api.clock k
    cross join lateral (select f.tells_incidents and n.kind = 'incident' and not n.doubtful as pairable) p
    left join venue_day d on d.venue_id = n.venue_id and d.day = time_bucket('1 day', n.started_at)
  ),
  -- By quarters of a day, each notice in its own and in both neighbours: comparing all with all would be a hundred
  -- thousand comparisons for ninety days of a venue.
  nearby as materialized (
    select n.*, date_bin(api.paired_within(), n.started_at, 'epoch') + neighbour * api.paired_within() as quarter
    from notices n
    cross join generate_series(-1, 1) neighbour
    where n.pairable
  ),
  candidates as materialized (
    select
      i.no as ours,
      n.no as theirs,
      i.opened_at,
      n.notice_id,
      n.started_at,
      n.posted_at,
      row_number() over (
        partition by i.no order by d.apart, i.started_at, i.incident_id, n.started_at, n.notice_id
      ) as nearest_of_ours,
      row_number() over (
        partition by n.no order by d.apart, i.started_at, i.incident_id, n.started_at, n.notice_id
      ) as nearest_of_theirs
    from incidents i
    join nearby n on n.venue_id = i.venue_id and n.quarter = i.quarter
    cross join lateral (select abs(extract(epoch from i.started_at - n.started_at)) as apart) d
    where n.started_at between i.started_at - api.paired_within() and i.started_at + api.paired_within()
  ),
  pairs as materialized (
    select c.* from candidates c where c.nearest_of_ours = 1 and c.nearest_of_theirs = 1
  )
  select
    i.venue_id,
    i.incident_id,
    p.notice_id,
    i.no in (select c.ours from candidates c),
    i.compared,
    i.started_at,
    p.started_at,
    case when p.theirs is not null then 'incident' end,
    p.theirs is not null,
    -- as api.ahead_seconds, which would query for each row
    case when i.incident_id not in (select e.incident_id from alert_event e where e.kind = 'opened' and e.late)
      then round(extract(epoch from p.posted_at - p.opened_at))::int end
  from incidents i
  left join pairs p on p.ours = i.no
  union all
  select
    n.venue_id,
    null,
    n.notice_id,
    n.no in (select c.theirs from candidates c),
    n.compared,
    n.started_at,
    n.started_at,
    n.kind,
    n.pairable,
    null
  from notices n
  where n.no not in (select p.theirs from pairs p);
end;

-- The inputs of a Detection object.
create type api.detection_counts as (
  days                    integer,
  measured_days           integer,
  observed                boolean,
  venues_compared         integer,
  venues_unseen           integer,
  venues_only_maintenance integer,
  venues_without_feed     integer,
  ours                    integer,
  ours_compared           integer,
  theirs                  integer,
  theirs_compared         integer,
  paired                  integer,
  ours_near               integer,
  ours_only               integer,
  theirs_near             integer,
  theirs_only             integer,
  maintenances            integer,
  others                  integer,
  leads                   integer,
  median_lead             integer
);

-- The Detection object, the same wherever it appears: what could not be compared is null, not zero.
create function api.detection_body(c api.detection_counts) returns json
language sql stable
return json_build_object(
  'days', c.days,
  'measuredDays', c.measured_days,
  'observed', c.observed,
  'venuesCompared', c.venues_compared,
  'venuesUnseen', c.venues_unseen,
  'venuesOnlyMaintenance', c.venues_only_maintenance,
  'venuesWithoutFeed', c.venues_without_feed,
  'ours', c.ours,
  'oursCompared', case when c.venues_compared > 0 then c.ours_compared end,
  'theirs', case when c.venues_compared > 0 then c.theirs end,
  'theirsCompared', case when c.venues_compared > 0 then c.theirs_compared end,
  'paired', case when c.venues_compared > 0 then c.paired end,
  'oursNear', case when c.venues_compared > 0 then c.ours_near end,
  'oursOnly', case when c.venues_compared > 0 then c.ours_only end,
  'theirsNear', case when c.venues_compared > 0 then c.theirs_near end,
  'theirsOnly', case when c.venues_compared > 0 then c.theirs_only end,
  'maintenances', case when c.observed then c.maintenances end,
  'others', case when c.observed then c.others end,
  'subjectMatched', false,
  'leads', case when c.venues_compared > 0 then c.leads end,
  'aheadUncorrelated', c.median_lead
);

-- The Detection object of each of these venues over a window, and in the row without a venue of all together. A pair
-- belongs to the days of its incident, so that both sides count the same pairs. plpgsql, because its plan is cached.
create function api.detection(window_days integer, venue_ids smallint[])
returns table (venue_id smallint, body json)
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  with bounds as materialized (
    select
      k.today - window_days + 1 as first_day,
      ((k.today - window_days + 1)::timestamp at time zone 'UTC') as from_at
    from api.clock k
  ),
  -- from a day before, so that items at the edge find their pairs
  compared as materialized (
    select c.*
    from bounds b
    cross join api.clock k
    cross join lateral api.compared(b.from_at - interval '1 day', k.generated_at, venue_ids) c
  ),
  counts as (
    select
      c.venue_id,
      count(c.incident_id) as ours,
      count(c.notice_id) as theirs,
      count(*) filter (where c.incident_id is not null and c.notice_id is not null) as paired,
      count(*) filter (where c.notice_id is null and c.near) as ours_near,
      count(*) filter (where c.notice_id is null and not c.near) as ours_only,
      count(*) filter (where c.incident_id is null and c.near) as theirs_near,
      count(*) filter (where c.incident_id is null and not c.near) as theirs_only,
      count(c.ahead_seconds) as leads,
      round(percentile_cont(0.5) within group (order by c.ahead_seconds))::int as median_lead
    from compared c
    cross join bounds b
    where c.compared and c.started_at >= b.from_at
    group by grouping sets ((c.venue_id), ())
  ),
  notices as (
    select
      c.venue_id,
      count(*) filter (where c.kind = 'incident') as incidents,
      count(*) filter (where c.kind = 'maintenance') as maintenances,
      count(*) filter (where c.kind = 'other') as others
    from compared c
    cross join bounds b
    where c.notice_started_at >= b.from_at
    group by grouping sets ((c.venue_id), ())
  ),
  known as materialized (
    select g.*
    from bounds b
    cross join api.clock k
    cross join lateral api.feed_coverage(
      (select array_agg(v.feed_id) from venue v where v.venue_id = any (venue_ids)), b.from_at, k.generated_at
    ) g
  ),
  feeds as materialized (
    select
      f.venue_id,
      f.state,
      f.tells_incidents,
      coalesce(g.seen && tstzrange(b.from_at, null), false) as observed,
      m.days
    from api.feed f
    cross join bounds b
    left join known g using (feed_id)
    cross join lateral (
      select array_agg(d.day) as days
      from venue_day d
      where d.venue_id = f.venue_id
        and d.day >= b.from_at
        and d.measured_minutes > 0
        and g.seen && tstzrange(d.day, d.day + interval '1 day', '[)')
    ) m
    where f.venue_id = any (venue_ids)
  ),
  observed as (
    select
      f.venue_id,
      bool_or(f.observed) as observed,
      count(*) filter (where f.state = 'none') as without_feed,
      count(*) filter (where f.state <> 'none' and not f.tells_incidents) as only_maintenance,
      count(*) filter (where f.tells_incidents and f.state <> 'none' and f.days is null) as unseen,
      count(*) filter (where f.tells_incidents and f.state <> 'none' and f.days is not null) as compared
    from feeds f
    group by grouping sets ((f.venue_id), ())
  ),
  days as (
    select f.venue_id, count(distinct d.day)::int as days
    from feeds f
    cross join lateral unnest(f.days) d (day)
    group by grouping sets ((f.venue_id), ())
  )
  select
    o.venue_id,
    api.detection_body(row(
      window_days,
      coalesce(d.days, 0),
      coalesce(o.observed, false),
      o.compared,
      o.unseen,
      o.only_maintenance,
      o.without_feed,
      coalesce(i.incidents, 0),
      coalesce(c.ours, 0),
      coalesce(n.incidents, 0),
      coalesce(c.theirs, 0),
      coalesce(c.paired, 0),
      coalesce(c.ours_near, 0),
      coalesce(c.ours_only, 0),
      coalesce(c.theirs_near, 0),
      coalesce(c.theirs_only, 0),
      coalesce(n.maintenances, 0),
      coalesce(n.others, 0),
      coalesce(c.leads, 0),
      -- medians do not add up, so the total row has none
      case when o.venue_id is not null and c.leads >= api.least_leads() then c.median_lead end
    )::api.detection_counts)
  from observed o
  left join days d on d.venue_id is not distinct from o.venue_id
  left join counts c on c.venue_id is not distinct from o.venue_id
  left join notices n on n.venue_id is not distinct from o.venue_id
  left join api.incident_counts(window_days, venue_ids) i on i.venue_id is not distinct from o.venue_id;
end;
$$;

-- The Detection object of one incident: how it counts, and the notices that started near it. The lead is that of its
-- own pair.
create function api.incident_detection(of_incident bigint) returns json
language sql stable
begin atomic
  with this as materialized (
    select i.incident_id, i.venue_id, i.started_at from api.incident i where i.incident_id = of_incident
  ),
  around as materialized (
    select c.*
    from this i
    cross join lateral api.compared(
      i.started_at - interval '1 day', i.started_at + interval '1 day', array[i.venue_id]
    ) c
  ),
  -- no row if the venue's feed reports no incidents
  own as (
    select
      coalesce(c.compared, false) as compared,
      coalesce(c.compared and c.notice_id is not null, false) as paired,
      coalesce(c.near, false) as near,
      c.notice_id,
      c.ahead_seconds
    from this i
    left join around c on c.incident_id = i.incident_id
  ),
  near as (
    select count(*)::int as notices
    from around a
    cross join this i
    cross join own o
    where a.pairable
      and a.notice_id is distinct from o.notice_id
      and a.notice_started_at between i.started_at - api.paired_within() and i.started_at + api.paired_within()
  ),
  kinds as (
    select
      count(*) filter (where a.kind = 'incident') as incidents,
      count(*) filter (where a.kind = 'maintenance') as maintenances,
      count(*) filter (where a.kind = 'other') as others
    from around a
    cross join this i
    where a.notice_started_at between i.started_at - api.paired_within() and i.started_at + api.paired_within()
  ),
  feed as (
    select
      f.state,
      f.tells_incidents,
      exists (
        select
        from api.feed_coverage(
          array[f.feed_id], i.started_at - api.paired_within(), i.started_at + api.paired_within()
        )
      ) as observed
    from this i
    join api.feed f using (venue_id)
  )
  select api.detection_body(row(
    1,
    o.compared::int,
    f.observed,
    o.compared::int,
    (f.state <> 'none' and f.tells_incidents and not o.compared)::int,
    (f.state <> 'none' and not f.tells_incidents)::int,
    (f.state = 'none')::int,
    1,
    o.compared::int,
    k.incidents,
    o.paired::int + n.notices,
    o.paired::int,
    (not o.paired and o.near)::int,
    (not o.near)::int,
    n.notices,
    0,
    k.maintenances,
    k.others,
    (o.ahead_seconds is not null)::int,
    case when o.compared then o.ahead_seconds end
  )::api.detection_counts)
  from feed f, own o, near n, kinds k;
end;
