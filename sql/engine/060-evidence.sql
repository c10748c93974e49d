-- Why a region's vote is not counted, in words for readers of the evidence.
create function engine.why_not_counted(impaired boolean, refused boolean, outlier boolean, newest_at timestamptz)
returns text
language sql immutable parallel safe
return case
  when impaired then 'impaired: most venues were cut off there at once, and in no other region whose own network worked'
  when refused then 'refused: the venue blocks this place, and no second place confirms that it blocks everybody'
  when outlier then 'outlier: it has seen this bad for long, and no quorum with it'
  when newest_at is null then 'no samples within the last hour'
  else 'newest sample too old'
end;

-- The evidence for a component's state: every region's vote at an instant, and which regions were not counted and why.
--
-- Computed only from samples, impairments and typical latencies, by what was known at `known_at`: anyone who may read
-- these can recompute an incident's evidence. Only the probes' builds are the current ones.
--
-- {at, state, published, reporting, counted, vantages, quorum, confirming, notes: [...], votes: [...], notCounted:
-- [...]}; every published region is in one of the last two lists. `reporting` is the number of regions that report the
-- component, and `counted` of those with a vote. `confirming` is the number of votes bad enough for an opening;
-- `vantages` is the number of vantages of the counted regions.
create function engine.evidence(
  of_components integer[],
  since timestamptz,
  at timestamptz,
  known_at timestamptz,
  r engine.rules
)
returns table (component_id integer, evidence jsonb)
language sql stable
as $$
  with verdicts as materialized (
    select * from engine.region_verdicts(of_components, since, at, known_at, r)
  ),
  -- the samples behind each region's verdict
  judged as materialized (
    select v.component_id, v.region_id, s.ts, s.good, s.latency_us, s.fault, s.refusal
    from verdicts v
    join component c using (component_id)
    join sample s
      on s.component_id = v.component_id and s.region_id = v.region_id
      and s.ts > since and s.ts > v.judged_from and s.ts <= at
      and s.ts
        <= engine.known_by(at, known_at, s.received_after_s, c.cadence_ms, r) - s.received_after_s * interval '1 second'
      and engine.counts(s.ts, s.good, s.latency_us, v.slow_from_us, v.ours)
  ),
  details as (
    select
      j.component_id,
      j.region_id,
      round(percentile_cont(0.5) within group (order by j.latency_us) filter (where j.good) / 1000) as p50_ms,
      -- the newest answer with which the venue refused a stream's subscription
      (array_agg(j.refusal order by j.ts desc) filter (where j.refusal is not null))[1] as refusal
    from judged j
    group by j.component_id, j.region_id
  ),
  faults as (
    select f.component_id, f.region_id, jsonb_object_agg(f.fault, f.n) as faults
    from (
      select j.component_id, j.region_id, j.fault, count(*) as n
      from judged j
      where not j.good
      group by j.component_id, j.region_id, j.fault
    ) f
    group by f.component_id, f.region_id
  ),
  everywhere as (
    select
      c.component_id,
      g.region,
      g.position,
      v.*,
      d.p50_ms, d.refusal, f.faults,
      coalesce(v.newest_at, silent.newest_at) as known_newest_at,
      p.version as probe_version,
      l.vantage,
      l.machine,
      m.impaired,
      v.reporting and not m.impaired as asked,
      v.reporting and not m.impaired and v.refused and engine.is_bad(v.state) as is_refused,
      o.region_id is not null as in_outliers
    from component c
    cross join region g
    left join engine.vantages(at) l using (region_id)
    left join verdicts v (of_component, in_region) on v.of_component = c.component_id and v.in_region = g.region_id
    -- A later recognition takes nothing back that a venue has answered.
    cross join lateral (
      select
        g.region_id = any (array(select engine.impaired_regions(at, at)))
        or g.region_id = any (array(select engine.impaired_regions_in_hindsight(at, known_at, r)))
          and v.unanswered is not false
        as impaired
    ) m
    left join details d on d.component_id = c.component_id and d.region_id = g.region_id
    left join faults f on f.component_id = c.component_id and f.region_id = g.region_id
    left join engine.outliers(at) o on o.component_id = c.component_id and o.region_id = g.region_id
    left join venue_lease a on a.region_id = g.region_id and a.venue_id = c.venue_id
    left join probe p on p.region_id = a.region_id and p.process = a.process
    left join lateral (
      select max(s.ts) as newest_at
      from sample s
      where s.component_id = c.component_id and s.region_id = g.region_id
        and s.ts > at - interval '1 hour' and s.ts <= at
        and s.ts
          <= engine.known_by(at, known_at, s.received_after_s, c.cadence_ms, r)
            - s.received_after_s * interval '1 second'
    ) silent on v.newest_at is null
    where c.component_id = any (of_components) and g.published
  ),
  refusals as (
    select e.component_id, count(distinct e.vantage) as vantages
    from everywhere e
    where e.is_refused
    group by e.component_id
  ),
  heard as (
    select
      e.*,
      l.alone and e.is_refused as refused_alone,
      e.asked and e.in_outliers and not (l.alone and e.is_refused) as outlier,
      e.asked and not e.in_outliers and not (l.alone and e.is_refused) as counted
    from everywhere e
    left join refusals f using (component_id)
    cross join lateral (
      select (f.vantages < r.blocked_min_vantages) is true as alone
    ) l
  ),
  counted as (
    select
      e.component_id,
      count(*) as published,
      count(*) filter (where e.reporting) as reporting,
      count(*) filter (where e.counted) as counted,
      count(distinct e.vantage) filter (where e.counted) as vantages,
      count(*) filter (where e.counted and e.state = 'outage') as outage,
      count(*) filter (where e.counted and engine.is_bad(e.state)) as bad,
      count(*) filter (where e.state = 'operational' and e.asked) as operational,
      count(*) filter (where e.asked and not e.counted and engine.is_bad(e.state)) as uncounted,
      count(*) filter (
        where e.counted and engine.is_bad(e.state) and (e.bad_run >= r.opening_bad_run or e.in_part)
      ) as confirming,
      jsonb_agg(
        jsonb_build_object(
          'region', e.region,
          'vote', e.state,
          'samples', e.samples,
          'bad', e.failed,
          'slow', e.slow,
          'unserved', e.unserved,
          'badRun', e.bad_run,
          'partial', case when e.in_part then jsonb_build_object('samples', e.part_samples, 'bad', e.part_failed) end,
          'faults', coalesce(e.faults, '{}'),
          'refusal', e.refusal,
          'p50Ms', e.p50_ms,
          'typicalP50Ms', round(e.typical_p50_us / 1000::double precision),
          'newestAt', api.iso(e.newest_at),
          'ageMs', round(extract(epoch from at - e.newest_at) * 1000),
          'probeVersion', e.probe_version,
          'machine', e.machine
        )
        order by e.position
      ) filter (where e.counted) as votes,
      jsonb_agg(
        jsonb_build_object(
          'region', e.region,
          'reason', engine.why_not_counted(e.impaired, e.refused_alone, e.outlier, e.known_newest_at),
          'newestAt', api.iso(e.known_newest_at),
          'machine', e.machine
        )
        order by e.position
      ) filter (where e.counted is not true) as not_counted
    from heard e
    group by e.component_id
  )
  select
    c.component_id,
    jsonb_build_object(
      'at', api.iso(at),
      'state', case
        when u.reason is null then engine.by_quorum(q.quorum, c.outage, c.bad, c.operational, c.uncounted)
        else 'unknown'
      end,
      'published', c.published,
      'reporting', c.reporting,
      'counted', c.counted,
      'vantages', c.vantages,
      'quorum', q.quorum,
      'confirming', c.confirming,
      'notes', to_jsonb(array_remove(array[
        case when c.published = 1 then 'The registry publishes one region: nobody else can confirm what it sees.' end,
        case
          when c.counted > c.vantages
            then 'Regions whose probes run on one machine share its network: they are one vantage.'
        end,
        case
          when u.reason = 'ended' then (select k.ends_because from component k where k.component_id = c.component_id)
        end
      ], null)),
      'votes', coalesce(c.votes, '[]'),
      'notCounted', coalesce(c.not_counted, '[]')
    )
  from counted c
  cross join lateral (select engine.quorum(c.counted, c.published, r.quorum_min_regions) as quorum) q
  left join engine.unproven(at) u using (component_id)
$$;
