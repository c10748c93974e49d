-- The raw samples of some components, seen from some regions, in `(from_at, to_at]`, as far as they had arrived by
-- `known_at`.
--
-- A separate function, planned for each window: inside the page, whose plan knows no window, it would include all
-- chunks, 200 on the embedded database.
create function api.samples_between(
  components integer[], regions smallint[], from_at timestamptz, to_at timestamptz, known_at timestamptz
)
returns table (component_id integer, region_id smallint, ts timestamptz, good boolean, latency_us integer)
language plpgsql stable
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
begin
  return query
  select s.component_id, s.region_id, s.ts, s.good, s.latency_us
  from sample s
  where s.component_id = any (components)
    and s.region_id = any (regions)
    and s.ts > from_at and s.ts <= to_at
    and api.known_by(known_at, s.ts, s.received_after_s);
end;
$$;

-- Totals of some streams, seen from one region, in `(from_at, to_at]`. Planned for each window, like the one above.
create function api.streams_between(
  components integer[], only_region smallint, from_at timestamptz, to_at timestamptz, known_at timestamptz
)
returns table (
  component_id integer, samples bigint, good bigint, messages bigint, quiet_ms integer, sequence_gaps bigint
)
language plpgsql stable
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
begin
  return query
  select
    s.component_id, count(*), count(*) filter (where s.good), sum(s.messages), max(s.quiet_ms), sum(s.sequence_gaps)
  from sample s
  where s.component_id = any (components)
    and s.region_id = only_region
    and s.ts > from_at and s.ts <= to_at
    and api.known_by(known_at, s.ts, s.received_after_s)
  group by s.component_id;
end;
$$;

-- A point of the latency chart; a row type, as api.uptime is.
create type api.chart_point as ("at" text, "p50Ms" integer, "p95Ms" integer, "samples" bigint);

-- One venue in detail: one row, or none if the venue is not published. `only_range` is 24h (buckets of a minute) or 7d
-- (of an hour); `only_region` applies to the latency chart, the endpoints and the streams.
--
-- plpgsql, because its plan is cached, as api.board's is. One bound on hours is written with `is true`: without it the
-- planner takes a range of unknown bounds for a narrow one, and uses the index on time, which holds the hours of all
-- series.
create function api.venue_page(only_venue text, only_range text, only_region text)
returns table (generated_at timestamptz, body text)
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  with snapshot as materialized (
    select
      k.generated_at,
      k.generated_at - w.length as from_at,
      k.published_to,
      k.today,
      w.bucket
    from api.clock k
    cross join lateral (
      select
        case only_range when '7d' then interval '7 days' else interval '24 hours' end as length,
        case only_range when '7d' then interval '1 hour' else interval '1 minute' end as bucket
    ) w
  ),
  chosen as materialized (
    select v.* from api.venue v where v.venue = only_venue
  ),
  selected as (
    select region_id, region from region where region = only_region
  ),
  components as materialized (
    select
      c.*,
      s.state,
      s.since,
      coalesce(g.state, 'unknown') as region_state,
      g.newest_at,
      g.newest_fault
    from api.component c
    join chosen using (venue_id)
    join api.component_state s using (component_id)
    left join api.region_state g on g.component_id = c.component_id and g.region_id = (select region_id from selected)
  ),
  -- The whole hours of the range that are published and kept (hours_kept). What lies before and after them is read raw.
  whole as materialized (
    select
      h.from_at,
      greatest(h.from_at, least(coalesce(k.kept_to, h.from_at), time_bucket('1 hour', w.published_to))) as to_at
    from snapshot w
    cross join lateral (select time_bucket('1 hour', w.from_at) + interval '1 hour' as from_at) h
    left join hours_kept k on true
  ),
  -- The hours that the chart and the tables read: of a week only, because a day's chart is by minute. None if they
  -- include an endpoint that is no longer watched: rest_hour would put it into the chart.
  kept as materialized (
    select
      h.from_at,
      case
        when only_range = '7d' and not exists (
          select
          from component c
          join chosen using (venue_id)
          join latency_hour f using (component_id)
          where c.kind = 'rest' and not c.published and f.hour >= h.from_at
        ) then h.to_at
        else h.from_at
      end as to_at
    from whole h
  ),
  edges as materialized (
    select w.from_at, k.from_at - interval '1 microsecond' as to_at from snapshot w, kept k
    union all
    select k.to_at - interval '1 microsecond', w.generated_at from snapshot w, kept k
  ),
  -- samples of all regions outside the whole hours
  beside as materialized (
    select r.*
    from (
      select w.from_at, h.from_at - interval '1 microsecond' as to_at from snapshot w, whole h
      union all
      select h.to_at - interval '1 microsecond', w.generated_at from snapshot w, whole h
    ) e
    cross join snapshot w
    cross join lateral api.samples_between(
      array(select component_id from components),
      array(select region_id from region where published),
      e.from_at,
      e.to_at,
      w.generated_at
    ) r
  ),
  -- REST samples of the selected region outside the kept hours
  raw as materialized (
    select r.*
    from edges e
    cross join snapshot w
    cross join lateral api.samples_between(
      array(select component_id from components where kind = 'rest'),
      array(select region_id from selected),
      e.from_at,
      e.to_at,
      w.generated_at
    ) r
  ),
  charted as (
    select h.hour as at, h.samples, h.p50_us, h.p95_us
    from rest_hour h
    where h.venue_id = (select venue_id from chosen)
      and h.region_id = (select region_id from selected)
      and h.hour >= (select from_at from kept) and (h.hour < (select to_at from kept)) is true
    union all
    select
      time_bucket(w.bucket, r.ts),
      count(*),
      percentile_cont(0.5) within group (order by r.latency_us),
      percentile_cont(0.95) within group (order by r.latency_us)
    from raw r
    cross join snapshot w
    where r.good
    group by 1
  ),
  points as (
    select json_agg(
      row(api.iso(b.at), api.p50_ms(b.p50_us, b.samples), api.p95_ms(b.p95_us, b.samples), b.samples)::api.chart_point
      order by b.at
    ) as points
    from (
      -- Grouped, not joined: the planner cannot estimate how many buckets were measured, and if it expects few, it
      -- compares each of a day's 1,440 with each.
      select a.at, max(a.p50_us) as p50_us, max(a.p95_us) as p95_us, max(a.samples) as samples
      from (
        select
          generate_series(
            time_bucket(w.bucket, w.from_at) + w.bucket, time_bucket(w.bucket, w.generated_at), w.bucket
          ) as at,
          null::double precision as p50_us, null::double precision as p95_us, 0::bigint as samples, true as of_range
        from snapshot w
        union all
        select c.at, c.p50_us, c.p95_us, c.samples, false
        from charted c
      ) a
      group by a.at
      having bool_or(a.of_range)
    ) b
  ),
  measured as (
    select c.component_id, sum(c.samples)::int as samples, sum(c.good)::int as good
    from (
      select h.component_id, sum(h.samples) as samples, sum(h.good) as good
      from sample_hour h
      where h.component_id = any (array(select component_id from components where kind = 'rest'))
        and h.region_id = (select region_id from selected)
        and h.hour >= (select from_at from kept) and (h.hour < (select to_at from kept)) is true
        -- for the planner, which excludes the chunks of years only by now()
        and h.hour > now() - interval '8 days'
      group by h.component_id
      union all
      select r.component_id, count(*), count(*) filter (where r.good)
      from raw r
      group by r.component_id
    ) c
    group by c.component_id
  ),
  -- per endpoint: number of good answers by latency in milliseconds
  bins as (
    select b.component_id, b.ms, sum(b.samples) as samples, min(b.least_us) as least_us, max(b.most_us) as most_us
    from (
      select h.component_id, h.ms, sum(h.samples) as samples, min(h.least_us) as least_us, max(h.most_us) as most_us
      from latency_hour h
      where h.component_id = any (array(select component_id from components where kind = 'rest'))
        and h.region_id = (select region_id from selected)
        and h.hour >= (select from_at from kept) and (h.hour < (select to_at from kept)) is true
      group by h.component_id, h.ms
      union all
      select r.component_id, api.whole_ms(r.latency_us), count(*), min(r.latency_us), max(r.latency_us)
      from raw r
      where r.good and r.latency_us is not null
      group by 1, 2
    ) b
    group by b.component_id, b.ms
  ),
  -- the same per region, over all its endpoints
  bins_of_regions as (
    select b.region_id, b.ms, sum(b.samples) as samples, min(b.least_us) as least_us, max(b.most_us) as most_us
    from (
      select h.region_id, h.ms, sum(h.samples) as samples, min(h.least_us) as least_us, max(h.most_us) as most_us
      from latency_hour h
      where h.component_id = any (array(select component_id from components where kind = 'rest'))
        and h.hour >= (select from_at from whole) and (h.hour < (select to_at from whole)) is true
      group by h.region_id, h.ms
      union all
      select r.region_id, api.whole_ms(r.latency_us), count(*), min(r.latency_us), max(r.latency_us)
      from beside r
      -- not joined: the planner expects few rows of a function, and would scan all components for each
      where r.component_id = any (array(select component_id from components where kind = 'rest'))
        and r.good
        and r.latency_us is not null
      group by 1, 2
    ) b
    group by b.region_id, b.ms
  ),
  all_bins as (
    select b.component_id, null::smallint as region_id, b.ms, b.samples, b.least_us, b.most_us from bins b
    union all
    select null, b.region_id, b.ms, b.samples, b.least_us, b.most_us from bins_of_regions b
  ),
  -- A percentile's position lies between two samples, counted from 0. Both have the same millisecond, or are the last
  -- of one and the first of the next.
  percentiles as materialized (
    select
      p.component_id,
      p.region_id,
      min(p.total)::bigint as answers,
      max(p.ms) filter (where p.share = 0.5 and p.total >= api.p50_min_answers()) as p50_ms,
      max(p.ms) filter (where p.share = 0.95 and p.total >= api.p95_min_answers()) as p95_ms
    from (
      select
        r.component_id,
        r.region_id,
        h.share,
        min(r.total) as total,
        case
          when count(*) = 1 then min(r.ms)
          else api.whole_ms(min(r.most_us) + (h.place - floor(h.place)) * (max(r.least_us) - min(r.most_us)))
        end as ms
      from (
        select
          b.*,
          sum(b.samples) over (partition by b.component_id, b.region_id order by b.ms) as upto,
          sum(b.samples) over (partition by b.component_id, b.region_id) as total
        from all_bins b
      ) r
      cross join lateral (
        select s.share, s.share * (r.total - 1) as place from (values (0.5::double precision), (0.95)) as s (share)
      ) h
      where floor(h.place) < r.upto and ceil(h.place) >= r.upto - r.samples
      group by r.component_id, r.region_id, h.share, h.place
    ) p
    group by p.component_id, p.region_id
  ),
  -- the streams, by the same hours
  heard as (
    select
      p.component_id,
      sum(p.samples)::int as samples,
      sum(p.good)::int as good,
      sum(p.messages) as messages,
      max(p.quiet_ms) as quiet_ms,
      -- null if frames are not numbered
      sum(p.sequence_gaps) as sequence_gaps
    from (
      select h.component_id, h.samples, h.good, h.messages, h.quiet_ms, h.sequence_gaps
      from stream_hour h
      where h.component_id = any (array(select component_id from components where kind = 'ws'))
        and h.region_id = (select region_id from selected)
        and h.hour >= (select from_at from kept) and (h.hour < (select to_at from kept)) is true
      union all
      select s.*
      from edges e
      cross join lateral api.streams_between(
        array(select component_id from components where kind = 'ws'),
        (select region_id from selected),
        e.from_at,
        e.to_at,
        (select w.generated_at from snapshot w)
      ) s
    ) p
    group by p.component_id
  ),
  newest_events as (
    select distinct on (s.component_id) s.component_id, s.event_age_ms
    from sample s, snapshot w
    where s.component_id = any (array(select component_id from components where kind = 'ws'))
      and s.region_id = (select region_id from selected)
      and s.ts > w.generated_at - interval '10 minutes' and s.ts <= w.generated_at
      and api.known_by(w.generated_at, s.ts, s.received_after_s)
      and s.ts > now() - interval '1 hour'
    order by s.component_id, s.ts desc
  ),
  -- each endpoint separately, so that the search stops at the first match
  certificates as (
    select c.component_id, n.expires_at
    from components c
    cross join snapshot w
    cross join lateral (
      select s.certificate_expires_at as expires_at
      from sample s
      where s.component_id = c.component_id
        and s.region_id = (select region_id from selected)
        and s.certificate_expires_at is not null
        and s.ts > w.generated_at - interval '1 day' and s.ts <= w.generated_at
        and api.known_by(w.generated_at, s.ts, s.received_after_s)
        and s.ts > now() - interval '2 days'
      order by s.ts desc
      limit 1
    ) n
    where c.kind = 'rest'
  ),
  -- How often an endpoint's head went backwards: lower than its previous one, as when two nodes alternate behind one
  -- address. As in analytics.heads_backwards. Always of one day: comparing neighbours over a week costs as much as the
  -- rest of this page. Each endpoint is read separately, so that the index returns its heads in order.
  named as (
    select c.component_id, b.backwards
    from components c
    cross join snapshot w
    cross join lateral (
      select count(*)::int as heads, (count(*) filter (where h.head < h.before))::int as backwards
      from (
        select s.head, lag(s.head) over (order by s.ts) as before
        from sample s
        where s.component_id = c.component_id
          and s.region_id = (select region_id from selected)
          and s.head is not null
          and s.ts > w.generated_at - interval '1 day' and s.ts <= w.generated_at
          and api.known_by(w.generated_at, s.ts, s.received_after_s)
          and s.ts > now() - interval '2 days'
      ) h
    ) b
    where c.kind = 'rest' and b.heads > 0 and exists (select from chosen where chain is not null)
  ),
  -- what our own fleet read of this chain from this region, at any venue
  readings as materialized (
    select
      s.component_id,
      s.ts,
      s.head,
      -- venues that use the same host are not independent
      substring(c.target from '://([^/?#]+)') as provider,
      -- Probes of one region have different clocks, so instants are on the venues' clock, or on the probe's if its
      -- error is unknown.
      s.clock_error_ms is not null as clock_known,
      -- earliest possible
      s.ts - coalesce(s.clock_error_ms + s.clock_error_within_ms, 0) * interval '1 ms' as asked_at,
      -- Latest possible: a start that is not recorded as late may be up to 50 ms late, and latency starts with the
      -- first byte sent.
      s.ts
        - coalesce(s.clock_error_ms - s.clock_error_within_ms, 0) * interval '1 ms'
        + coalesce(s.late_ms, 50) * interval '1 ms'
        + (coalesce(s.dns_us, 0) + coalesce(s.connect_us, 0) + coalesce(s.tls_us, 0) + s.latency_us) * interval '1 us'
        as answered_at
    from sample s
    join component c using (component_id)
    cross join snapshot w
    where s.component_id = any (array(
        select c.component_id
        from component c
        join venue v using (venue_id)
        where v.chain = (select chain from chosen) and c.kind = 'rest'
      ))
      and s.region_id = (select region_id from selected)
      and s.head is not null
      -- as far back as the oldest of own_heads may lie, plus a minute
      and s.ts > w.generated_at - interval '1 minute' - (
        select greatest(interval '1 minute', max(3 * o.cadence_ms) * interval '1 ms')
        from components o
        where o.kind = 'rest'
      )
      and s.ts <= w.generated_at
      and api.known_by(w.generated_at, s.ts, s.received_after_s)
      and s.ts > now() - interval '1 hour'
  ),
  own_heads as (
    select distinct on (r.component_id) r.*
    from readings r
    join components c using (component_id)
    cross join snapshot w
    where r.ts > w.generated_at - greatest(interval '1 minute', 3 * c.cadence_ms * interval '1 ms')
    order by r.component_id, r.ts desc
  ),
  -- The freshest head that an endpoint could have known when it was asked, because we already had it: not the true head
  -- of the chain. A head that is more than 100,000 blocks away from everything that other providers reported in that
  -- minute is from another chain, or invented.
  freshest as (
    select
      h.component_id,
      (
        select max(r.head)
        from readings r
        where r.ts > h.ts - interval '1 minute'
          -- if only one of the clocks is known, the order of the two instants is unknown
          and (r.answered_at <= h.asked_at and r.clock_known = h.clock_known or r.component_id = h.component_id)
          and (
            select count(*) = 0 or bool_or(abs(o.head - r.head) <= 100000)
            from readings o
            where o.ts > h.ts - interval '1 minute' and o.ts <= h.ts and o.provider <> r.provider
          )
      ) as head
    from own_heads h
  ),
  endpoints as (
    select coalesce(
      json_agg(
        json_build_object(
          'component', c.component,
          'name', c.name,
          'label', c.label,
          'target', c.target,
          'cadenceMs', c.cadence_ms,
          'state', c.state,
          'since', api.iso(c.since),
          'regionState', c.region_state,
          'samples', coalesce(m.samples, 0),
          'goodPct', trunc(100.0 * m.good / nullif(m.samples, 0), 3),
          'answers', coalesce(p.answers, 0),
          'p50Ms', p.p50_ms,
          'p95Ms', p.p95_ms,
          'newestAt', api.iso(c.newest_at),
          'newestFault', c.newest_fault,
          'certificateExpiresAt', api.iso(x.expires_at),
          'lag', case when n.component_id is not null then json_build_object(
            'blocks', case when h.head <= f.head then f.head - h.head end,
            'head', h.head,
            'freshestHead', f.head,
            'at', api.iso(h.ts),
            'backwards', n.backwards
          ) end
        )
        order by c.position
      ),
      '[]'
    ) as rows
    from components c
    left join measured m using (component_id)
    left join percentiles p using (component_id)
    left join certificates x using (component_id)
    left join named n using (component_id)
    left join own_heads h using (component_id)
    left join freshest f using (component_id)
    where c.kind = 'rest'
  ),
  streams as (
    select coalesce(
      json_agg(
        json_build_object(
          'component', c.component,
          'name', c.name,
          'label', c.label,
          'target', c.target,
          'cadenceMs', c.cadence_ms,
          'state', c.state,
          'since', api.iso(c.since),
          'regionState', c.region_state,
          'samples', coalesce(m.samples, 0),
          'goodPct', trunc(100.0 * m.good / nullif(m.samples, 0), 3),
          'messagesPerMinute', round(m.messages * 60000.0 / nullif(m.samples::bigint * c.cadence_ms, 0), 1),
          'longestQuietMs', m.quiet_ms,
          'eventAgeMs', e.event_age_ms,
          'sequenceGaps', m.sequence_gaps,
          'stallAfterMs', c.stall_after_ms,
          'newestAt', api.iso(c.newest_at),
          'newestFault', c.newest_fault
        )
        order by c.position
      ),
      '[]'
    ) as rows
    from components c
    left join heard m using (component_id)
    left join newest_events e using (component_id)
    where c.kind = 'ws'
  ),
  -- All regions, over the same range. Kept figures for whole hours, raw samples outside them: raw samples of all
  -- regions would cost three times the rest of this page. All components count; latencies are of REST only, because the
  -- time to open a socket is of another kind.
  counted as (
    select n.region_id, sum(n.samples) as samples, sum(n.good) as good
    from (
      select h.region_id, sum(h.samples) as samples, sum(h.good) as good
      from sample_hour h
      where h.component_id = any (array(select component_id from components))
        and h.hour >= (select from_at from whole) and (h.hour < (select to_at from whole)) is true
        -- for the planner, which excludes the chunks of years only by now()
        and h.hour > now() - interval '8 days'
      group by h.region_id
      union all
      select r.region_id, count(*), count(*) filter (where r.good)
      from beside r
      group by r.region_id
    ) n
    group by n.region_id
  ),
  compared as (
    select json_agg(
      json_build_object(
        'region', g.region,
        'name', g.name,
        'reporting', coalesce(r.reporting, false),
        'impaired', g.impaired_since is not null,
        'state', coalesce(r.state, 'unknown'),
        'samples', coalesce(h.samples, 0),
        'goodPct', trunc(100.0 * h.good / nullif(h.samples, 0), 3),
        'answers', coalesce(p.answers, 0),
        'p50Ms', p.p50_ms,
        'p95Ms', p.p95_ms,
        'newestAt', api.iso(r.newest_at)
      )
      order by g.position
    ) as regions
    from api.region g
    left join (
      select
        s.region_id,
        bool_or(s.reporting) as reporting,
        max(s.newest_at) as newest_at,
        api.worst(
          count(*),
          count(*) filter (where s.state <> 'unknown'),
          count(*) filter (where s.state = 'outage'),
          count(*) filter (where s.state in ('degraded', 'outage'))
        ) as state
      from api.region_state s
      join chosen using (venue_id)
      group by s.region_id
    ) r using (region_id)
    left join counted h using (region_id)
    left join percentiles p on p.component_id is null and p.region_id = g.region_id
  ),
  days as (
    select json_agg(
      api.uptime_day(d.day, d.scheduled_minutes, d.measured_minutes, d.down_minutes, d.degraded_minutes)
      order by d.day
    ) as days
    from api.days(90, array(select venue_id from chosen)) d
  ),
  recent as (
    select coalesce(json_agg(r.body order by r.started_at desc, r.incident_id desc), '[]') as incidents
    from (
      select i.*
      from api.incident i
      join chosen using (venue_id)
      order by i.started_at desc, i.incident_id desc
      limit 50
    ) r
  )
  select
    w.generated_at,
    (
      select json_build_object(
        'generatedAt', api.iso(w.generated_at),
        'exchange', json_build_object(
          'id', v.venue, 'name', v.name, 'category', v.category, 'symbol', v.symbol, 'quote', v.quote
        ),
        'state', v.state,
        'since', api.iso(v.since),
        'uptimePct90d', (r.uptime)."uptimePct",
        'measuredMinutes', (r.uptime)."measuredMinutes",
        'scheduledMinutes', (r.uptime)."scheduledMinutes",
        'coveragePct', (r.uptime)."coveragePct",
        'uptimePctLow', (r.uptime)."uptimePctLow",
        'uptimePctHigh', (r.uptime)."uptimePctHigh",
        'typicalMs', t.p50_ms,
        'typicalMinutes', coalesce(t.minutes, 0),
        'typicalAsOf', api.iso(t.holds_from),
        'days', d.days,
        'latency', json_build_object(
          'range', only_range,
          'bucketMs', (extract(epoch from w.bucket) * 1000)::int,
          'points', p.points
        ),
        'endpoints', e.rows,
        'streams', s.rows,
        'regions', json_build_object('selected', only_region, 'compare', g.regions),
        'incidents', i.incidents,
        'incidentPatterns', api.incident_patterns(90, v.venue_id),
        -- including the future: maintenance is announced before it starts
        'official', api.official(v.venue_id, (w.today - 89)::timestamp at time zone 'UTC', 'infinity'),
        'detection', n.body,
        'summary', r.body,
        'excluded', api.excluded(90)
      )
      from points p, endpoints e, streams s, compared g, days d, recent i,
        api.detection(90, array(select venue_id from chosen)) n,
        api.reliability(90, array(select venue_id from chosen)) r
      left join api.typical t using (venue_id)
      where r.venue_id is not null and n.venue_id is not null
    )::text as body
  from snapshot w, chosen v;
end;
$$;
