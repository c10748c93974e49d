-- What the latencies of a venue's page are read from: the range `(from_at, generated_at]`, in buckets of the chart. The
-- whole hours of the range that are published and kept (hours_kept) end at `whole_to`. Of these, the chart and the
-- tables read the hours up to `kept_to`. What lies before and after the hours is read raw.
create type api.page_span as (
  from_at      timestamptz,
  generated_at timestamptz,
  bucket       interval,
  whole_from   timestamptz,
  whole_to     timestamptz,
  kept_to      timestamptz
);

-- The span of a range, 24h (buckets of a minute) or 7d (of an hour).
create function api.page_span(of_venue smallint, only_range text) returns api.page_span
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
declare
  span api.page_span;
begin
  select w.from_at, w.generated_at, w.bucket, h.from_at, n.to_at, case
    -- Hours of a week only, because a day's chart is by minute. None if they include an endpoint that is no longer
    -- watched: rest_hour would put it into the chart.
    when only_range = '7d' and not exists (
      select
      from component c
      join latency_hour f using (component_id)
      where c.venue_id = of_venue and c.kind = 'rest' and not c.published and f.hour >= h.from_at
    ) then n.to_at
    else h.from_at
  end
  into span
  from (
    select
      k.generated_at - case only_range when '7d' then interval '7 days' else interval '24 hours' end as from_at,
      k.generated_at,
      k.published_to,
      case only_range when '7d' then interval '1 hour' else interval '1 minute' end as bucket
    from api.clock k
  ) w
  cross join lateral (select time_bucket('1 hour', w.from_at) + interval '1 hour' as from_at) h
  left join hours_kept k on true
  cross join lateral (
    select greatest(h.from_at, least(coalesce(k.kept_to, h.from_at), time_bucket('1 hour', w.published_to))) as to_at
  ) n;
  return span;
end;
$$;

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

-- A point of the latency chart; a row type, as api.uptime is.
create type api.chart_point as ("at" text, "p50Ms" integer, "p95Ms" integer, "samples" bigint);

-- What was measured of an endpoint from one region, or of a region over all endpoints of a venue.
create type api.figures as (
  component_id integer,
  region_id    smallint,
  samples      bigint,
  good         bigint,
  answers      bigint,
  p50_ms       integer,
  p95_ms       integer
);

-- The latencies of a venue: the chart, and the figures of each endpoint from one region, and of each region. All
-- components count for the samples of a region; latencies are of REST only, because the time to open a socket is of
-- another kind.
--
-- Kept figures for whole hours, raw samples outside them: raw samples of all regions would cost three times the rest of
-- the page. The chart and the figures share raw samples, and reading those of a day takes the
-- embedded database a third of the page's time (40 ms of 120).
--
-- One bound on hours is written with `is true`: without it the planner takes a range of unknown bounds for a narrow
-- one, and uses the index on time, which holds the hours of all series.
create function api.venue_latency(of_venue smallint, of_region smallint, span api.page_span)
returns table (points json, figures api.figures[])
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  components integer[] := array(select c.component_id from api.component c where c.venue_id = of_venue);
  rest       integer[] := array(
    select c.component_id from api.component c where c.venue_id = of_venue and c.kind = 'rest'
  );
begin
  return query
  -- samples of all regions outside the whole hours
  with beside as materialized (
    select r.*
    from (values
      (span.from_at, span.whole_from - interval '1 microsecond'),
      (span.whole_to - interval '1 microsecond', span.generated_at)
    ) as e (from_at, to_at)
    cross join lateral api.samples_between(
      components, array(select region_id from region where published), e.from_at, e.to_at, span.generated_at
    ) r
  ),
  -- REST samples of the selected region outside the kept hours
  raw as materialized (
    select r.*
    from (values
      (span.from_at, span.whole_from - interval '1 microsecond'),
      (span.kept_to - interval '1 microsecond', span.generated_at)
    ) as e (from_at, to_at)
    cross join lateral api.samples_between(rest, array[of_region], e.from_at, e.to_at, span.generated_at) r
  ),
  charted as (
    select h.hour as at, h.samples, h.p50_us, h.p95_us
    from rest_hour h
    where h.venue_id = of_venue
      and h.region_id = of_region
      and h.hour >= span.whole_from and (h.hour < span.kept_to) is true
    union all
    select
      time_bucket(span.bucket, r.ts),
      count(*),
      percentile_cont(0.5) within group (order by r.latency_us),
      percentile_cont(0.95) within group (order by r.latency_us)
    from raw r
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
            time_bucket(span.bucket, span.from_at) + span.bucket, time_bucket(span.bucket, span.generated_at),
            span.bucket
          ) as at,
          null::double precision as p50_us, null::double precision as p95_us, 0::bigint as samples, true as of_range
        union all
        select c.at, c.p50_us, c.p95_us, c.samples, false
        from charted c
      ) a
      group by a.at
      having bool_or(a.of_range)
    ) b
  ),
  counted as (
    select c.component_id, c.region_id, sum(c.samples)::bigint as samples, sum(c.good)::bigint as good
    from (
      select h.component_id, null::smallint as region_id, sum(h.samples) as samples, sum(h.good) as good
      from sample_hour h
      where h.component_id = any (rest)
        and h.region_id = of_region
        and h.hour >= span.whole_from and (h.hour < span.kept_to) is true
        -- for the planner, which excludes the chunks of years only by now()
        and h.hour > now() - interval '8 days'
      group by h.component_id
      union all
      select r.component_id, null, count(*), count(*) filter (where r.good)
      from raw r
      group by r.component_id
      union all
      select null, h.region_id, sum(h.samples), sum(h.good)
      from sample_hour h
      where h.component_id = any (components)
        and h.hour >= span.whole_from and (h.hour < span.whole_to) is true
        and h.hour > now() - interval '8 days'
      group by h.region_id
      union all
      select null, r.region_id, count(*), count(*) filter (where r.good)
      from beside r
      group by r.region_id
    ) c
    group by c.component_id, c.region_id
  ),
  -- per endpoint: number of good answers by latency in milliseconds
  bins as (
    select b.component_id, b.ms, sum(b.samples) as samples, min(b.least_us) as least_us, max(b.most_us) as most_us
    from (
      select h.component_id, h.ms, sum(h.samples) as samples, min(h.least_us) as least_us, max(h.most_us) as most_us
      from latency_hour h
      where h.component_id = any (rest)
        and h.region_id = of_region
        and h.hour >= span.whole_from and (h.hour < span.kept_to) is true
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
      where h.component_id = any (rest)
        and h.hour >= span.whole_from and (h.hour < span.whole_to) is true
      group by h.region_id, h.ms
      union all
      select r.region_id, api.whole_ms(r.latency_us), count(*), min(r.latency_us), max(r.latency_us)
      from beside r
      where r.component_id = any (rest)
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
  )
  select
    (select p.points from points p),
    array(
      select row(c.component_id, c.region_id, c.samples, c.good, p.answers, p.p50_ms, p.p95_ms)::api.figures
      from counted c
      left join percentiles p
        on (p.component_id, p.region_id) is not distinct from (c.component_id, c.region_id)
    );
end;
$$;
