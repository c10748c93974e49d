-- Chapter 3 of RULEBOOK.md: how does each region see each component at an instant?
--
-- One row per published component and region with a sample in what the component is judged by, by what was known then; with
-- a `known_at` after it, in hindsight. It reads the window anew every time: there is no running state to go wrong.
--
-- First one pass over the usual window, knowing nothing of components, finds the series at which all is well; only the others,
-- and those that are judged over longer, are read sample by sample. Joining each sample of a fleet's window to what its
-- series is judged by took 2.3 times as long.
--
-- `of_components`: only those, each read closely; null: all, and then never in hindsight.
-- `since`: no component is judged by anything before it. As a plain value it spares planning the chunks that cannot hold
-- anything, some two hundred on the embedded database; that halves the tick there.
create function engine.region_verdicts(
  of_components integer[],
  since timestamptz,
  at timestamptz,
  known_at timestamptz,
  r engine.rules
)
returns table (
  component_id   integer,
  region_id      smallint,
  state          state,
  reporting      boolean,
  samples        integer,
  failed         integer,
  slow           integer,
  bad_run        integer,
  newest_at      timestamptz,
  newest_fault   fault,
  judged_from    timestamptz,
  typical_p50_us integer
)
language sql stable
as $$
  -- all that a series is judged by
  with series as (
    select
      c.component_id,
      g.region_id,
      c.cadence_ms,
      engine.judged_span(c.cadence_ms, r) = engine.ms(r.window_ms) as usual,
      at - engine.judged_span(c.cadence_ms, r) as judged_from,
      at - engine.vote_max_age(c.cadence_ms, r) as votes_from,
      t.p50_us as typical_p50_us,
      engine.slow_from_us(t.p50_us, r) as slow_from_us
    from component c
    join venue v using (venue_id)
    cross join region g
    left join typical_latency t
      on t.component_id = c.component_id and t.region_id = g.region_id and t.holds_from = engine.typical_in_force(at)
    where c.published and v.published and g.published
      and (of_components is null or c.component_id = any (of_components))
  ),
  glance as (
    select
      s.component_id,
      s.region_id,
      count(*) as samples,
      count(*) filter (where not s.good) as failed,
      max(s.latency_us) filter (where s.good) as slowest_us,
      max(s.ts) as newest_at
    from sample s
    where of_components is null
      and s.ts > since
      and s.ts > at - engine.ms(r.window_ms)
      and s.ts <= at
      and s.ts <= at - s.received_after_s * interval '1 second'
    group by s.component_id, s.region_id
  ),
  counted as (
    select
      w.*,
      coalesce(look.samples, n.samples)::int as samples,
      coalesce(look.failed, 0)::int as failed,
      coalesce(look.slow, 0)::int as slow,
      coalesce(look.newest_at, n.newest_at) as newest_at,
      coalesce(look.newest_at, n.newest_at) > w.votes_from as reporting,
      look.newest_well_at
    from series w
    left join glance n using (component_id, region_id)
    left join lateral (
      select
        count(*) as samples,
        count(*) filter (where not s.good) as failed,
        count(*) filter (where s.good and s.latency_us >= w.slow_from_us) as slow,
        max(s.ts) as newest_at,
        max(s.ts) filter (where s.good and (s.latency_us >= w.slow_from_us) is not true) as newest_well_at
      from sample s
      -- whether there is need of it stands inside: as a condition of the join it would be asked after the reading
      where (of_components is not null or not w.usual or n.failed > 0 or n.slowest_us >= w.slow_from_us)
        and s.component_id = w.component_id
        and s.region_id = w.region_id
        and s.ts > since
        and s.ts > w.judged_from
        and s.ts <= at
        and s.ts <= engine.known_by(at, known_at, s.received_after_s, w.cadence_ms, r) - s.received_after_s * interval '1 second'
      having count(*) > 0
    ) look on true
    where coalesce(look.samples, n.samples) > 0
  )
  select
    c.component_id,
    c.region_id,
    case
      when not c.reporting or c.samples < r.min_samples then 'unknown'
      when c.failed >= c.samples * r.outage_bad_share then 'outage'
      when c.failed >= c.samples * r.degraded_bad_share then 'degraded'
      when c.slow > 0 and c.slow * 2 >= c.samples - c.failed then 'degraded'
      else 'operational'
    end::state,
    c.reporting,
    c.samples,
    c.failed,
    c.slow,
    run.samples,
    c.newest_at,
    run.newest_fault,
    c.judged_from,
    c.typical_p50_us
  from counted c
  cross join lateral (
    select
      count(*)::int as samples,
      (array_agg(s.fault order by s.ts desc))[1] as newest_fault
    from sample s
    where c.failed + c.slow > 0
      and s.component_id = c.component_id
      and s.region_id = c.region_id
      and s.ts > since
      and s.ts > coalesce(c.newest_well_at, c.judged_from)
      and s.ts <= at
      and s.ts <= engine.known_by(at, known_at, s.received_after_s, c.cadence_ms, r) - s.received_after_s * interval '1 second'
  ) run
$$;

-- Keeps what each region sees now, for whoever reads it and for the next chapters. Only what changed is written.
--
-- Planned anew each time: a plan for any window whatever takes a fleet's window for a few rows. Sixty thousand series are
-- grouped in some twenty megabytes.
create function engine.keep_region_states(at timestamptz, r engine.rules) returns void
language plpgsql
set plan_cache_mode = force_custom_plan
set work_mem = '64MB'
as $$
declare
  since timestamptz := at - engine.longest_span(r);
begin
  with seen as materialized (
    select * from engine.region_verdicts(null, since, at, at, r)
  ),
  -- not by "on conflict", which would lock, and so write, the rows that stay as they are
  changed as (
    update region_state k
    set state = s.state,
        since = case when k.state = s.state then k.since else at end,
        bad_since = case when engine.is_bad(s.state) then coalesce(k.bad_since, at) end,
        reporting = s.reporting,
        samples = s.samples,
        bad = s.failed,
        slow = s.slow,
        bad_run = s.bad_run,
        newest_at = s.newest_at,
        newest_fault = s.newest_fault
    from seen s
    where k.component_id = s.component_id and k.region_id = s.region_id
      and (k.state, k.reporting, k.samples, k.bad, k.slow, k.bad_run, k.newest_at, k.newest_fault)
        is distinct from (s.state, s.reporting, s.samples, s.failed, s.slow, s.bad_run, s.newest_at, s.newest_fault)
  ),
  added as (
    insert into region_state (
      component_id, region_id, state, since, bad_since, reporting, samples, bad, slow, bad_run, newest_at, newest_fault
    )
    select
      s.component_id, s.region_id, s.state, at, case when engine.is_bad(s.state) then at end,
      s.reporting, s.samples, s.failed, s.slow, s.bad_run, s.newest_at, s.newest_fault
    from seen s
    where not exists (select from region_state k where k.component_id = s.component_id and k.region_id = s.region_id)
  )
  -- a series that fell silent has no sample in its window any more; its last one stays as what was known
  update region_state s
  set state = 'unknown',
      since = case when s.state = 'unknown' then s.since else at end,
      bad_since = null, reporting = false, samples = 0, bad = 0, slow = 0, bad_run = 0, newest_fault = null
  where (s.reporting or s.samples > 0)
    and not exists (select from seen n where n.component_id = s.component_id and n.region_id = s.region_id);
end;
$$;
