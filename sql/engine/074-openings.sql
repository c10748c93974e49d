-- Chapter 6 of docs/rulebook.md: when an incident opens, and since when its trouble lasts. A quorum finds the component
-- bad, as many regions confirm it, and the trouble is not suspect.

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

-- The permanent name of an incident, without the number that distinguishes incidents of the same name.
create function engine.slug_base(venue text, started_at timestamptz, kind text, severity state) returns text
language sql stable
return format('%s-%s-%s-%s', venue, to_char(started_at at time zone 'UTC', 'YYYY-MM-DD'), kind, severity);

-- Opens an incident if a quorum finds the component bad and as many regions confirm it.
create function engine.open_incidents(at timestamptz, r engine.rules) returns text[]
language plpgsql
as $$
declare
  bad    integer[];
  due    integer[];
  since  timestamptz := at - engine.longest_span(r);
  opened text[];
begin
  bad := array(select c.component_id from component_state c where engine.is_bad(c.state));
  if bad = '{}' then
    return '{}';
  end if;
  select array_agg(d.component_id) into due
  from (
    select c.component_id
    from component_state c
    join engine.confirming_regions(bad, at, r) s using (component_id)
    where not exists (select from engine.open_incidents_of(null) i where i.component_id = c.component_id)
      and not exists (
        -- an operator has retracted this trouble, at this severity or worse
        select from engine.dismissed() d
        where d.component_id = c.component_id and d.peak_severity >= c.state
      )
    group by c.component_id, c.quorum
    having count(*) >= c.quorum
  ) d;
  if due is null then
    return '{}';
  end if;
  due := array(select unnest(due) except select engine.suspect_components(due, at, r));
  if due = '{}' then
    return '{}';
  end if;

  with started as (
    select
      c.component_id,
      c.component,
      s.state as severity,
      n.started_at,
      greatest(n.started_at, b.last_bad_at) as last_bad_at,
      engine.slug_base(v.venue, n.started_at, c.kind, s.state) as base,
      (
        select count(*) + 1 >= r.flap_openings
        from incident i
        where i.component_id = c.component_id and i.retracted_at is null
          and i.opened_at > at - engine.ms(r.flap_within_ms)
      ) as flapping
    from engine.runs_started_at(due, at, r) n
    join component c using (component_id)
    join venue v using (venue_id)
    join component_state s using (component_id)
    left join engine.last_bad_at(due, at, r) b using (component_id)
  ),
  taken as (
    -- only the days in question; retracted incidents keep their names
    select regexp_replace(i.slug, '(degraded|outage)-[0-9]+$', '\1') as base, count(*) as n
    from incident i
    where i.started_at >= (select date_trunc('day', min(s.started_at), 'UTC') from started s)
    group by 1
  ),
  named as (
    select
      s.*,
      -- by name, not by id: the same samples make the same slugs in every database
      coalesce(t.n, 0) + row_number() over (partition by s.base order by s.started_at, s.component) as nth
    from started s
    left join taken t using (base)
  ),
  added as (
    insert into incident (
      slug, component_id, severity, peak_severity, started_at, opened_at, last_bad_at, flapping, evidence
    )
    select
      n.base || case when n.nth > 1 then '-' || n.nth else '' end,
      n.component_id, n.severity, n.severity, n.started_at, at, n.last_bad_at, n.flapping,
      jsonb_build_object('opening', e.evidence)
    from named n
    join engine.evidence(due, since, at, at, r) e using (component_id)
    order by n.started_at, n.base, n.nth
    returning slug
  )
  select coalesce(array_agg(a.slug order by a.slug), '{}') into opened from added a;
  return opened;
end;
$$;
