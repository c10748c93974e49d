-- Why is a component in the state that it is in? The votes behind this tick's decision, for people and for the record.
--
-- {at, state, quorum, reporting, votes: [...], notCounted: [...]}; every published region is in one of the two lists.
create function engine.evidence(of_component integer, at timestamptz) returns jsonb
language sql stable
begin atomic
  select jsonb_build_object(
    'at', at,
    'state', c.state,
    'reporting', c.reporting,
    'quorum', c.quorum,
    'votes', coalesce(
      jsonb_agg(
        jsonb_build_object(
          'region', g.region,
          'vote', s.state,
          'samples', s.samples,
          'bad', s.bad,
          'badRun', s.bad_run,
          'faults', s.faults,
          'p50Ms', round(s.p50_us / 1000.0),
          'newestAt', s.newest_at,
          'ageMs', round(extract(epoch from at - s.newest_at) * 1000),
          'probeVersion', p.version
        )
        order by g.position
      ) filter (where s.reporting),
      '[]'
    ),
    'notCounted', coalesce(
      jsonb_agg(
        jsonb_build_object(
          'region', g.region,
          'reason', case when s.newest_at is null then 'no samples in the window' else 'newest sample too old' end,
          'newestAt', s.newest_at
        )
        order by g.position
      ) filter (where s.reporting is not true),
      '[]'
    )
  )
  from component_state c
  cross join region g
  left join region_state s on s.component_id = c.component_id and s.region_id = g.region_id
  left join probe p on p.region_id = g.region_id
  where c.component_id = of_component and g.published
  group by c.component_id;
end;

-- When did the run begin that a quorum now confirms? In each region that has a bad run, the first bad sample after
-- its last good one; of those, the one that completed the quorum. So one region's lone trouble, however old, does
-- not predate an outage that others joined later.
create function engine.run_started_at(of_component integer, at timestamptz, quorum integer, min_bad_run integer)
returns timestamptz
language sql stable
begin atomic
  select max(run.started_at)
  from (
    select first_bad.ts as started_at
    from region_state s
    cross join lateral (
      select max(g.ts) as ts
      from sample g
      where g.component_id = s.component_id and g.region_id = s.region_id and g.good
        and g.ts <= at and g.ts > at - interval '7 days'
    ) last_good
    cross join lateral (
      select min(b.ts) as ts
      from sample b
      where b.component_id = s.component_id and b.region_id = s.region_id and not b.good
        and b.ts <= at and b.ts > coalesce(last_good.ts, at - interval '7 days')
    ) first_bad
    where s.component_id = of_component and s.reporting
      and s.state in ('degraded', 'outage')
      and s.bad_run >= min_bad_run
    order by 1
    limit quorum
  ) run;
end;
