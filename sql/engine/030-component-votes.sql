-- What does each component's quorum say?
--
-- The quorum is a simple majority of the regions that report the component now, not of those that are configured: a
-- region without samples has no vote, either way. A majority, never a half: with two of four regions bad and two
-- good, nothing is confirmed. One row per published component.
create function engine.component_votes()
returns table (
  component_id integer,
  reporting    smallint,
  quorum       smallint,
  state        state
)
language sql stable
begin atomic
  with votes as (
    select
      c.component_id,
      (count(*) filter (where s.reporting))::smallint as reporting,
      count(*) filter (where s.state = 'outage') as outage,
      count(*) filter (where s.state in ('outage', 'degraded')) as bad,
      count(*) filter (where s.state = 'operational') as operational
    from component c
    join venue v using (venue_id)
    left join region_state s using (component_id)
    where c.published and v.published
    group by c.component_id
  ),
  counted as (
    select v.*, (v.reporting / 2 + 1)::smallint as quorum
    from votes v
  )
  select
    c.component_id,
    c.reporting,
    c.quorum,
    case
      when c.outage >= c.quorum then 'outage'
      when c.bad >= c.quorum then 'degraded'
      -- health needs witnesses too: as many regions must have a verdict as a fault would need to be confirmed
      when c.operational + c.bad < c.quorum then 'unknown'
      when c.operational = 0 then 'unknown'
      else 'operational'
    end::state
  from counted c;
end;

-- What does each venue's set of components say? Components without evidence are not counted.
create function engine.venue_verdicts()
returns table (venue_id smallint, state state)
language sql stable
begin atomic
  select
    v.venue_id,
    case
      when count(*) filter (where s.state <> 'unknown') = 0 then 'unknown'
      when count(*) filter (where s.state = 'outage') * 2 >= count(*) filter (where s.state <> 'unknown') then 'outage'
      when count(*) filter (where s.state in ('degraded', 'outage')) > 0 then 'degraded'
      else 'operational'
    end::state
  from venue v
  left join component c on c.venue_id = v.venue_id and c.published
  left join component_state s using (component_id)
  where v.published
  group by v.venue_id;
end;
