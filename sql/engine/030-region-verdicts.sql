-- Chapter 3 of docs/rulebook.md: how each region sees each component at an instant.

-- One row per published component and region with a sample in the component's window, by what was known then; with a
-- later `known_at`, in hindsight. It reads the window again each time: there is no running state that could go wrong.
--
-- First, one pass over the usual window, without knowledge of components, finds the series that are all well. Only the
-- others, and those with longer windows, are read sample by sample. Joining each sample of a fleet's window to the
-- parameters of its series took 2.3 times as long.
--
-- `of_components`: only these, each read closely; null: all, which is never in hindsight. `since`: no component is
-- judged by anything before it. Passed as a plain value, it saves planning the chunks that cannot hold anything, some
-- two hundred on the embedded database; that halves the tick there.
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
  unserved       integer,
  -- at least half of what failed was refused (blocked)
  refused        boolean,
  -- at least half of what was bad may be the fault of the region's network, which can also make answers slow
  may_be_ours    boolean,
  -- at least half of what was bad was not answered
  unanswered     boolean,
  -- the newest sample is a bad answer, and none that stands while the probe pauses
  answers_badly  boolean,
  bad_run        integer,
  run_from       timestamptz,
  -- at least a fifth fails, in window after window
  in_part        boolean,
  part_samples   integer,
  part_failed    integer,
  newest_at      timestamptz,
  newest_fault   fault,
  newest_bad_at  timestamptz,
  judged_from    timestamptz,
  typical_p50_us integer,
  slow_from_us   integer,
  -- when the region's own network failed, if over
  ours           tstzmultirange
)
language sql stable
as $$
  -- until when each region is impaired
  with impaired as (
    select i.region_id, max(coalesce(i.ended_at, 'infinity')) as ended_at
    from impairment i
    where i.started_at <= at
      and engine.is_own_trouble(i.recognised_at, i.ended_at, i.seen_elsewhere, at, known_at, r)
    group by i.region_id
  ),
  ours as (
    select * from engine.own_trouble(since, at, known_at)
  ),
  -- Derived from the few distinct cadences. Computed per series of a fleet, it took as long as joining them.
  spans as materialized (
    select
      c.cadence_ms,
      engine.judged_span(c.cadence_ms, r) as judged_span,
      engine.judged_span(c.cadence_ms, r) = engine.ms(r.window_ms) as usual,
      at - engine.judged_span(c.cadence_ms, r) as window_from,
      at - engine.judged_span(c.cadence_ms, r) / 2 as halfway_at,
      engine.longest_gap(c.cadence_ms, r) as longest_gap,
      at - engine.vote_max_age(c.cadence_ms, r) as votes_from,
      at - engine.refusal_max_age(c.cadence_ms, r) as refusals_from,
      at - engine.refusals_span(c.cadence_ms, r) as refusals_read_from,
      at - engine.partial_span(c.cadence_ms, r) as part_from
    from (select distinct cadence_ms from component) c
  ),
  -- the parameters of each series
  series as (
    select
      c.component_id,
      g.region_id,
      p.*,
      -- a stream is not blamed for faults of its socket
      c.kind = 'ws' and c.component <> 'ws:conn' as streams,
      t.p50_us as typical_p50_us,
      engine.slow_from_us(c.kind, t.p50_us, r) as slow_from_us,
      (i.ended_at > p.part_from) is true as was_impaired,
      o.spans as ours
    from component c
    join spans p using (cadence_ms)
    join venue v using (venue_id)
    cross join region g
    left join impaired i on i.region_id = g.region_id
    left join ours o on o.region_id = g.region_id
    left join typical_latency t
      on t.component_id = c.component_id and t.region_id = g.region_id and t.holds_from = engine.typical_in_force(at)
    where c.published and v.published and g.published
      and (of_components is null or c.component_id = any (of_components))
  ),
  glance as (
    select
      s.component_id,
      s.region_id,
      count(*)::int as samples,
      (count(*) filter (where s.ts > at - engine.ms(r.window_ms) / 2))::int as later_samples,
      bool_or(not s.good) as failed,
      max(s.latency_us) filter (where s.good) as slowest_us,
      max(s.ts) filter (where s.ts <= at - engine.ms(r.window_ms) / 2) as paused_at,
      min(s.ts) filter (where s.ts > at - engine.ms(r.window_ms) / 2) as resumed_at,
      max(s.ts) as newest_at
    from sample s
    where of_components is null
      and s.ts > since
      and s.ts > at - engine.ms(r.window_ms)
      and s.ts <= at
      -- nearly all samples arrive within a second: checking that first saves a third of the reading
      and (s.received_after_s = 0 or s.ts <= at - s.received_after_s * interval '1 second')
    group by s.component_id, s.region_id
  ),
  -- Which series to read sample by sample: those with a failed or slow sample, or a longer window, and those that may
  -- wait after refusals. Of a fleet's silent series, the last known fault tells which may.
  glanced as (
    select
      w.*,
      l.samples as glanced_samples,
      n.newest_at as glanced_newest_at,
      of_components is not null
        or not w.usual
        or (n.failed or n.slowest_us >= w.slow_from_us) is true
        or (
          l.samples < r.min_samples
          and (engine.is_refusal(k.newest_fault) or not exists (select from region_state))
        )
        as closely
    from series w
    left join glance n using (component_id, region_id)
    cross join lateral (
      select coalesce(case when n.resumed_at - n.paused_at > w.longest_gap then n.later_samples else n.samples end, 0)
        as samples
    ) l
    left join region_state k using (component_id, region_id)
  ),
  counted as (
    select
      g.*,
      g.window_from as judged_from,
      g.glanced_samples as samples,
      0 as failed,
      0 as limited,
      0 as blocked,
      0 as unanswered,
      0 as slow,
      0 as unserved,
      g.glanced_newest_at as newest_at,
      g.votes_from as vote_from,
      null::timestamptz as newest_bad_at,
      0 as missed,
      0 as bad_run,
      null::timestamptz as run_from,
      null::fault as newest_fault,
      false as answers_badly,
      false as fails_in_part,
      0 as part_samples,
      0 as part_failed
    from glanced g
    where not g.closely and g.glanced_samples > 0
    union all
    -- A separate branch: joined to all series of a fleet, these scans would be started for each of them, though most
    -- read nothing.
    select
      g.*,
      look.judged_from,
      seen.samples,
      seen.failed,
      seen.limited,
      seen.blocked,
      seen.unanswered,
      seen.slow,
      seen.unserved,
      seen.newest_at,
      seen.vote_from,
      seen.newest_bad_at,
      seen.missed,
      coalesce(seen.refused_run, windows.bad_run),
      coalesce(seen.refused_from, windows.run_from),
      coalesce(seen.refusal, windows.newest_fault),
      (seen.refusal is null and windows.answers_badly) is true,
      -- samples of the region's own trouble are no partial failure after it is over, and those of a closed incident do
      -- not open a second one
      windows.fail_in_part
        and not (
          g.was_impaired
          and seen.failed + seen.slow > 0
          and (seen.unanswered + seen.slow) * 2 >= seen.failed + seen.slow
        )
        -- checked last: needed for very few series
        and not exists (
          select from incident i
          where i.component_id = g.component_id and coalesce(i.retracted_at, 'infinity') > known_at
            and i.closed_at < at
            and i.last_bad_at > g.part_from
        ),
      windows.samples,
      windows.failed
    from glanced g
    cross join lateral (
      select
        count(*)::int as samples,
        (count(*) filter (where not s.good))::int as failed,
        (count(*) filter (where s.fault = 'limited'))::int as limited,
        (count(*) filter (where s.fault = 'blocked'))::int as blocked,
        (count(*) filter (where engine.may_be_ours(s.fault, s.http_status)))::int as unanswered,
        (count(*) filter (where s.good and s.latency_us >= g.slow_from_us))::int as slow,
        (count(*) filter (where s.unserved))::int as unserved,
        min(s.ts) as oldest_at,
        max(s.ts) as newest_at,
        max(s.ts) filter (where s.good and (s.latency_us >= g.slow_from_us) is not true) as newest_well_at,
        max(s.ts) filter (where not s.good or s.latency_us >= g.slow_from_us) as newest_bad_at,
        case when bool_or(s.resumes) then g.halfway_at else g.window_from end as judged_from,
        max(s.bad_in_window) > 0 as may_fail_in_part
      from (
        select
          s.*,
          (
            min(s.ts) filter (where s.ts > g.halfway_at) over whole_window
              - max(s.ts) filter (where s.ts <= g.halfway_at) over whole_window
            > g.longest_gap + case
              when max(s.ts) filter (where s.ts <= g.halfway_at and engine.is_refusal(s.fault)) over whole_window
                = max(s.ts) filter (where s.ts <= g.halfway_at) over whole_window
              then engine.ms(r.refusal_pause_ms)
              else interval '0'
            end
          ) is true as resumes,
          count(*) filter (where not s.good or s.latency_us >= g.slow_from_us) over whole_window as bad_in_window
        from sample s
        where s.component_id = g.component_id
          and s.region_id = g.region_id
          and s.ts > since
          and s.ts > g.window_from
          and s.ts <= at
          and s.ts
            <= engine.known_by(at, known_at, s.received_after_s, g.cadence_ms, r)
              - s.received_after_s * interval '1 second'
          and engine.counts(s.ts, s.good, s.latency_us, g.slow_from_us, g.ours)
        window whole_window as ()
      ) s
      where s.ts > g.halfway_at or not s.resumes
    ) look
    -- The refusals since the last other answer. After them a probe pauses, so that the window has too few samples: the
    -- last refusals stand until it asks again.
    cross join lateral (
      select
        count(*)::int as samples,
        (count(*) filter (where a.fault = 'limited'))::int as limited,
        (count(*) filter (where a.fault = 'blocked'))::int as blocked,
        (count(*) filter (where a.unserved))::int as unserved,
        max(a.ts) as newest_at,
        (count(*) filter (where not (g.streams and a.unserved is true)))::int as run,
        min(a.ts) filter (where not (g.streams and a.unserved is true)) as run_from,
        (array_agg(a.fault order by a.ts desc))[1] as newest_fault
      from (
        select
          s.ts,
          s.fault,
          s.unserved,
          s.received_after_s,
          max(s.ts) filter (where not engine.is_refusal(s.fault)) over () as other_at
        from sample s
        where look.samples < r.min_samples
          and s.component_id = g.component_id
          and s.region_id = g.region_id
          and s.ts > since
          and s.ts > g.refusals_read_from
          and s.ts <= at
          and s.ts + s.received_after_s * interval '1 second'
            <= engine.known_by(at, known_at, s.received_after_s, g.cadence_ms, r)
          and engine.counts(s.ts, s.good, s.latency_us, g.slow_from_us, g.ours)
      ) a
      where a.ts > coalesce(a.other_at, '-infinity')
        -- the glance has not seen late ones
        and a.received_after_s * 1000::bigint <= greatest(r.late_sample_ms, g.cadence_ms)
    ) wait
    cross join lateral (
      select
        look.samples,
        look.failed,
        look.limited,
        look.blocked,
        look.unanswered,
        look.slow,
        look.unserved,
        look.newest_at,
        look.newest_well_at,
        look.newest_bad_at,
        g.votes_from as vote_from,
        -- Slots without a sample are no failures: while a probe is away, and when it is back, the shares would grow by
        -- the good samples that leave the window. If all fail, none has left.
        case
          when look.newest_well_at is null then 0
          else engine.missed_slots(
            at - look.oldest_at, look.samples, look.limited + look.blocked > 0, g.cadence_ms, r
          )
        end as missed,
        null::int as refused_run,
        null::timestamptz as refused_from,
        null::fault as refusal
      where wait.samples < r.min_samples and look.samples > 0
      union all
      select
        wait.samples,
        wait.samples,
        wait.limited,
        wait.blocked,
        0,
        0,
        wait.unserved,
        wait.newest_at,
        null,
        wait.newest_at,
        g.refusals_from,
        0,
        wait.run,
        wait.run_from,
        wait.newest_fault
      where wait.samples >= r.min_samples
    ) seen
    -- Its samples by windows, counted back from `at`: the newest window has the bad run, and all of them show whether
    -- it fails in part. Only if something is bad in the newest window, so few series are read that far. In one scan:
    -- each scan plans all existing chunks.
    cross join lateral (
      select
        coalesce(max(w.run) filter (where w.back = 0), 0)::int as bad_run,
        max(w.run_from) filter (where w.back = 0) as run_from,
        (array_agg(w.newest_fault) filter (where w.back = 0))[1] as newest_fault,
        bool_or(w.answers_badly) filter (where w.back = 0) as answers_badly,
        coalesce(
          count(*) = r.partial_windows
          and bool_and(w.samples >= r.min_samples and w.failed * 2 >= w.samples * r.degraded_bad_share)
          and sum(w.failed) >= sum(w.samples) * r.degraded_bad_share
          and sum(w.failed) > r.opening_bad_run,
          false
        ) as fail_in_part,
        coalesce(sum(w.samples), 0)::int as samples,
        coalesce(sum(w.failed), 0)::int as failed
      from (
        select
          div(extract(epoch from at - s.ts), extract(epoch from g.judged_span)) as back,
          count(*) filter (where not (g.streams and s.unserved is true)) as samples,
          count(*) filter (where not s.good and not (g.streams and s.unserved is true)) as failed,
          count(*) filter (
            where s.ts > coalesce(look.newest_well_at, look.judged_from) and not (g.streams and s.unserved is true)
          ) as run,
          min(s.ts) filter (
            where s.ts > coalesce(look.newest_well_at, look.judged_from) and not (g.streams and s.unserved is true)
          ) as run_from,
          (
            array_agg(s.fault order by s.ts desc) filter (where s.ts > coalesce(look.newest_well_at, look.judged_from))
          )[1] as newest_fault,
          (
            array_agg(engine.is_answer(s.fault, s.http_status) order by s.ts desc)
              filter (where s.ts > coalesce(look.newest_well_at, look.judged_from))
          )[1] as answers_badly
        from sample s
        where look.may_fail_in_part
          and s.component_id = g.component_id
          and s.region_id = g.region_id
          and s.ts > since
          and s.ts > g.part_from
          and s.ts <= at
          and s.ts
            <= engine.known_by(at, known_at, s.received_after_s, g.cadence_ms, r)
              - s.received_after_s * interval '1 second'
          and engine.counts(s.ts, s.good, s.latency_us, g.slow_from_us, g.ours)
        group by 1
      ) w
    ) windows
    where g.closely
  )
  select
    c.component_id,
    c.region_id,
    case
      when not n.reporting or c.samples < r.min_samples then 'unknown'
      -- a venue that limits our requests answers, and from one address that may be our own doing: it is not down
      when c.failed - c.limited >= (c.samples + c.missed) * r.outage_bad_share and n.is_clear then 'outage'
      when c.failed >= greatest((c.samples + c.missed) * r.degraded_bad_share, r.degraded_min_failed) then 'degraded'
      when c.slow > 0 and c.slow * 2 >= c.samples + c.missed - c.failed then 'degraded'
      when n.in_part then 'degraded'
      else 'operational'
    end::state,
    n.reporting,
    c.samples,
    c.failed,
    c.slow,
    c.unserved,
    c.failed > 0 and c.blocked * 2 >= c.failed,
    c.failed + c.slow > 0 and (c.unanswered + c.slow) * 2 >= c.failed + c.slow,
    c.unanswered * 2 >= c.failed + c.slow,
    c.answers_badly,
    c.bad_run,
    c.run_from,
    n.in_part,
    c.part_samples,
    c.part_failed,
    c.newest_at,
    c.newest_fault,
    c.newest_bad_at,
    c.judged_from,
    c.typical_p50_us,
    c.slow_from_us,
    c.ours
  from counted c
  -- a region that reports nothing new does not fail now
  cross join lateral (
    select
      c.newest_at > c.vote_from as reporting,
      -- of a few samples, as after a gap, scattered failures would often be half
      c.failed = c.samples
        or 2 * (c.failed - c.limited) * engine.ms(c.cadence_ms) >= c.judged_span * r.outage_bad_share::double precision
        as is_clear,
      c.newest_at > c.vote_from and c.fails_in_part as in_part
  ) n
$$;
