-- Chapter 6 of docs/rulebook.md: which trouble a quorum of regions confirms, when it began, and until when it was seen.

-- What the counted regions see of some components.
create function engine.counted_states(of_components integer[], at timestamptz, r engine.rules)
returns setof region_state
language sql stable
as $$
  select s.*
  from region_state s
  where s.component_id = any (of_components)
    and s.reporting
    and s.region_id <> all (array(select engine.impaired_regions(at, at)))
    and not exists (
      select from engine.outliers(at) o where o.component_id = s.component_id and o.region_id = s.region_id
    )
    and not exists (
      select from engine.lone_refusals(at, r) l where l.component_id = s.component_id and l.region_id = s.region_id
    )
$$;

-- Until when a quorum saw a component bad: take the newest bad sample of each counted region that sees it bad, and of
-- these the one at the position of the quorum. A window stays bad for most of a minute after that.
create function engine.last_bad_at(of_components integer[], at timestamptz, r engine.rules)
returns table (component_id integer, last_bad_at timestamptz)
language sql stable
as $$
  select c.component_id, n.newest_bad_at
  from component_state c
  join (
    select
      s.component_id,
      s.newest_bad_at,
      row_number() over (partition by s.component_id order by s.newest_bad_at desc) as place
    from engine.counted_states(of_components, at, r) s
    where engine.is_bad(s.state)
  ) n using (component_id)
  where n.place = c.quorum
$$;

-- Counted regions that confirm trouble of a component: three bad samples in a row, or a fifth fails in window after
-- window.
create function engine.confirming_regions(of_components integer[], at timestamptz, r engine.rules)
returns table (component_id integer, region_id smallint, in_a_row boolean)
language sql stable
as $$
  select s.component_id, s.region_id, s.bad_run >= r.opening_bad_run
  from engine.counted_states(of_components, at, r) s
  where engine.is_bad(s.state)
    and (s.bad_run >= r.opening_bad_run or s.in_part)
$$;

-- When the trouble began that a quorum of regions confirms. In each region, with the first bad sample after its last
-- good one, or, for a partial failure, with the first failed sample in its windows; of these, the one that completed
-- the quorum. Reads the recorded samples in a replay too, because its copy does not reach back far enough.
--
-- A run does not extend over a silence, which is longer after a refusal: a probe that is refused asks less often.
-- Silences are looked for only after the instant that would otherwise complete the quorum: earlier ones make no
-- difference, and a blocked region has a week of bad samples.
create function engine.runs_started_at(of_components integer[], at timestamptz, r engine.rules)
returns table (component_id integer, started_at timestamptz)
language sql stable
as $$
  with runs as (
    select
      s.component_id,
      s.region_id,
      s.in_a_row,
      k.quorum,
      l.streams,
      l.max_age,
      coalesce(engine.refusal_max_age(c.cadence_ms, r), l.max_age) as refusal_max_age,
      l.slow_from_us,
      o.spans as ours,
      row_number() over (partition by s.component_id order by first_bad.ts, s.region_id) as place,
      first_bad.ts
    from engine.confirming_regions(of_components, at, r) s
    join component c using (component_id)
    join component_state k using (component_id)
    left join engine.own_trouble(at - interval '7 days', at, at) o on o.region_id = s.region_id
    left join typical_latency t
      on t.component_id = s.component_id and t.region_id = s.region_id
      and t.holds_from = engine.typical_in_force(at)
    cross join lateral (
      select
        engine.slow_from_us(c.kind, t.p50_us, r) as slow_from_us,
        engine.vote_max_age(c.cadence_ms, r) as max_age,
        c.kind = 'ws' and c.component <> 'ws:conn' as streams
    ) l
    cross join lateral (
      select max(g.ts) as ts
      from venuewatch.sample g
      where s.in_a_row
        and g.component_id = s.component_id and g.region_id = s.region_id
        and g.good and (g.latency_us >= l.slow_from_us) is not true
        and g.ts <= at and g.ts > at - interval '7 days'
        and g.ts <= at - g.received_after_s * interval '1 second'
    ) last_well
    cross join lateral (
      select min(b.ts) as ts
      from venuewatch.sample b
      where b.component_id = s.component_id and b.region_id = s.region_id
        and b.ts <= at
        and b.ts > case
          when s.in_a_row then coalesce(last_well.ts, at - interval '7 days')
          else at - engine.partial_span(c.cadence_ms, r)
        end
        and (s.in_a_row or not b.good)
        and not (l.streams and b.unserved is true)
        and b.ts <= at - b.received_after_s * interval '1 second'
        and engine.counts(b.ts, b.good, b.latency_us, l.slow_from_us, o.spans)
    ) first_bad
  ),
  resumed as (
    select
      u.component_id,
      u.quorum,
      u.region_id,
      greatest(u.ts, silence.ended_at) as ts
    from runs u
    join runs q on q.component_id = u.component_id and q.place = q.quorum
    cross join lateral (
      select max(n.ts) as ended_at
      from (
        select
          b.ts,
          b.ts - lag(b.ts, 1, q.ts - u.refusal_max_age) over by_time as after,
          case when engine.is_refusal(lag(b.fault) over by_time) then u.refusal_max_age else u.max_age end as longest
        from venuewatch.sample b
        where u.in_a_row
          and b.component_id = u.component_id and b.region_id = u.region_id
          and b.ts > q.ts - u.refusal_max_age and b.ts <= at
          and not (u.streams and b.unserved is true)
          and b.ts <= at - b.received_after_s * interval '1 second'
          and engine.counts(b.ts, b.good, b.latency_us, u.slow_from_us, u.ours)
        window by_time as (order by b.ts)
      ) n
      where n.after > n.longest and n.ts > u.ts
    ) silence
  ),
  placed as (
    select e.*, row_number() over (partition by e.component_id order by e.ts, e.region_id) as place
    from resumed e
  )
  -- what was seen before its entry was seen good says nothing about the venue
  select p.component_id, greatest(p.ts, e.good_at)
  from placed p
  left join engine.present_entries(at) e using (component_id)
  where p.place = p.quorum
$$;

-- Components that must wait, because the quorum depends on vantages whose own network may be failing. A region still
-- confirms what it has seen bad for long, and what answers.
create function engine.suspect_components(of_components integer[], at timestamptz, r engine.rules) returns setof integer
language sql stable
as $$
  select c.component_id
  from engine.confirming_regions(of_components, at, r) s
  join component_state c using (component_id)
  join region_state k using (component_id, region_id)
  join engine.vantages(at) g using (region_id)
  group by c.component_id, c.quorum
  having count(*) filter (
    where k.bad_since <= at - engine.ms(r.impaired_within_ms)
      or not k.may_be_ours
      or g.vantage not in (select engine.suspect_vantages(at, r))
  ) < c.quorum
$$;
