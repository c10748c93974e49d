-- Why a component is in its state, in words: what its trouble mostly is, and why it is unknown although it is measured.

-- The fault of more than half of the failed and slow samples in the votes that opened an incident, or that made it an
-- outage; null: no fault has so many. A venue that mostly limits our requests is thereby told from one that is down.
create function api.main_fault(evidence jsonb) returns fault
language sql stable
return (
  with votes as (
    select v.vote
    from (
      select coalesce(evidence -> 'escalation' -> 'votes', evidence -> 'opening' -> 'votes') as votes
    ) e
    cross join lateral jsonb_array_elements(
      case when jsonb_typeof(e.votes) = 'array' then e.votes end
    ) as v (vote)
    where v.vote ->> 'vote' in ('degraded', 'outage')
  )
  select f.key::fault
  from votes v
  cross join jsonb_each_text(v.vote -> 'faults') as f
  group by f.key
  having sum(f.value::int) * 2 > (
    select sum((v.vote ->> 'bad')::int + coalesce((v.vote ->> 'slow')::int, 0)) from votes v
  )
);

-- What most regions that see a component bad saw last; where their newest samples say nothing, what its open incident
-- mostly is. For components that are degraded or down.
create function api.present_fault(of_component integer) returns fault
language sql stable
return coalesce(
  (
    select f.newest_fault
    from (
      select r.newest_fault, count(*) as regions, sum(count(*)) over () as of_regions
      -- also regions without a vote, because finding these for each component would slow the board down
      from api.region_state r
      where r.component_id = of_component and r.reporting and r.state in ('degraded', 'outage')
      group by r.newest_fault
    ) f
    where f.regions * 2 > f.of_regions
  ),
  (
    select api.main_fault(i.evidence)
    from incident i
    where i.component_id = of_component and i.closed_at is null and i.retracted_at is null
  )
);

-- What to do where a component was never good and this is its fault.
create function api.advice_on(fault fault) returns text
language sql immutable parallel safe
return case
  when fault in ('dns', 'connect', 'tls', 'timeout') then 'check the address in the entry, and this network'
  when fault = 'blocked'
    then 'the venue refuses this place: measure it from another one, '
      'or at a host that serves this one (hosts of a region)'
  when fault = 'limited'
    then 'the venue limits our requests: set PROBES_PER_ADDRESS to the number of probes on this address, '
      'or lengthen the cadence'
  when fault = 'halted' then 'the venue says that it does not trade: wait until it does'
  else 'the entry may be wrong or out of date: run venuewatch registry check'
end;

-- What each region sees of a component that none has seen good, and what to do about it.
create function api.never_seen_good(of_component integer) returns text
language sql stable
return (
  with seen as (
    select s.newest_fault, string_agg(g.region, ', ' order by g.position) as regions, min(g.position) as place
    from region_state s
    join region g using (region_id)
    where s.component_id = of_component and g.published and s.newest_fault is not null
    group by s.newest_fault
  ),
  advised as (
    select api.advice_on(s.newest_fault) as advice, min(s.place) as place from seen s group by 1
  )
  select case
    when exists (select from seen) then format(
      'never seen good from here (%s); %s',
      (select string_agg(format('%s: %s', s.regions, s.newest_fault), '; ' order by s.place) from seen s),
      (select string_agg(a.advice, '; ' order by a.place) from advised a)
    )
    else 'never seen good from here, and not measured yet'
  end
);

-- Why a component is unknown although it is measured (table unjudged): {reason, detail}. `detail` is a sentence without
-- its capital and its full stop. Every answer and page has these words from here. Call it only where there is
-- a reason: hardly any of the board's components has one, and a call for each would slow it down.
create function api.unknown_because(of_component integer, reason text) returns json
language sql stable
return json_build_object(
  'reason', reason,
  'detail', case reason
    when 'never' then api.never_seen_good(of_component)
    when 'ended' then (
      select format('ended on %s: %s', (c.ends_at at time zone 'UTC')::date, rtrim(c.ends_because, '. '))
      from component c
      where c.component_id = of_component
    )
    else (
      select
        'blocked from this place'
          || coalesce(
            '; the venue does not serve '
              || (
                select string_agg(n.country, ', ' order by n.place)
                from jsonb_array_elements_text(v.entry -> 'blockedIn' -> 'countries')
                  with ordinality as n (country, place)
              ),
            ''
          )
          || '; only measurements from another place can tell whether it is down'
      from component c
      join venue v using (venue_id)
      where c.component_id = of_component
    )
  end
);
