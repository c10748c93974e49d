-- How does each region see each component at this instant?
--
-- One row per published component and region that has any sample in the component's window. It reads the window anew
-- every time: there is no running state to go wrong, and late samples are simply seen.
-- `since`: no component is judged by anything before it. As a plain value it spares planning the chunks that cannot hold
-- anything, some two hundred on the embedded database; that halves the tick there.
create function engine.region_verdicts(since timestamptz, at timestamptz, r engine.rules)
returns table (
  component_id integer,
  region_id    smallint,
  state        state,
  reporting    boolean,
  samples      integer,
  bad          integer,
  bad_run      integer,
  newest_at    timestamptz,
  newest_fault fault,
  p50_us       integer,
  faults       jsonb
)
language sql stable
begin atomic
  with watched as materialized (
    select
      c.component_id,
      at - engine.judged_span(c.cadence_ms, r) as judged_from,
      at - engine.vote_max_age(c.cadence_ms, r) as votes_from
    from component c
    join venue v using (venue_id)
    where c.published and v.published
  ),
  judged as (
    select
      s.component_id,
      s.region_id,
      s.ts,
      s.good,
      s.fault,
      s.latency_us,
      w.votes_from,
      max(s.ts) filter (where s.good) over (partition by s.component_id, s.region_id) as last_good_at
    from sample s
    join watched w using (component_id)
    join region g on g.region_id = s.region_id and g.published
    where s.ts > since
      and s.ts > w.judged_from
      and s.ts <= at
  ),
  counted as (
    select
      j.component_id,
      j.region_id,
      max(j.ts) > min(j.votes_from) as reporting,
      count(*)::int as samples,
      (count(*) filter (where not j.good))::int as bad,
      (count(*) filter (where not j.good and j.ts > coalesce(j.last_good_at, '-infinity')))::int as bad_run,
      max(j.ts) as newest_at,
      (array_agg(j.fault order by j.ts desc))[1] as newest_fault,
      round(percentile_cont(0.5) within group (order by j.latency_us) filter (where j.good))::int as p50_us
    from judged j
    group by j.component_id, j.region_id
  ),
  named as (
    select f.component_id, f.region_id, jsonb_object_agg(f.fault, f.n) as faults
    from (
      select j.component_id, j.region_id, j.fault, count(*) as n
      from judged j
      where not j.good
      group by j.component_id, j.region_id, j.fault
    ) f
    group by f.component_id, f.region_id
  )
  select
    c.component_id,
    c.region_id,
    case
      when not c.reporting or c.samples < r.min_samples then 'unknown'
      when c.bad >= c.samples * r.outage_bad_share then 'outage'
      when c.bad >= c.samples * r.degraded_bad_share then 'degraded'
      else 'operational'
    end::state,
    c.reporting,
    c.samples,
    c.bad,
    c.bad_run,
    c.newest_at,
    c.newest_fault,
    c.p50_us,
    coalesce(n.faults, '{}')
  from counted c
  left join named n using (component_id, region_id);
end;
