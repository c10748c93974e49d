-- For analysts who check the engine's decisions: docs/checking.md says how.
--
-- Analysts can read only the views of this schema. These functions recompute decisions with the engine's own functions,
-- from the tables below the views. So they are `security definer` (as vw_definer, see roles.sql), with read-only rights
-- and a fixed search path: no caller can put a table or a function of their own before ours.

create function analytics.evidence(slug text, decision text default 'opening') returns jsonb
language plpgsql stable security definer
set search_path = venuewatch, pg_temp
-- a generic plan, valid for any instant, would include all chunks; see `since`
set plan_cache_mode = force_custom_plan
as $$
declare
  at           timestamptz;
  known_at     timestamptz;
  of_component integer;
  r            engine.rules;
  -- A variable, because the planner excludes chunks by a plain value, but not by the expression: with 190 chunks a
  -- decision takes 15 ms instead of 400.
  since        timestamptz;
begin
  if evidence.decision not in ('opening', 'escalation', 'closing', 'retraction') then
    raise exception 'expected opening, escalation, closing or retraction; got %', evidence.decision;
  end if;
  select
    i.component_id,
    case evidence.decision
      when 'escalation' then i.escalated_at
      when 'closing' then i.closed_at
      else i.opened_at
    end,
    case evidence.decision
      when 'escalation' then i.escalated_at
      when 'closing' then i.closed_at
      when 'retraction' then case when i.retraction_evidence is not null then i.retracted_at end
      else i.opened_at
    end
  into of_component, at, known_at
  from incident i
  where i.slug = evidence.slug;

  r := engine.rules_at(known_at);
  since := at - engine.longest_span(r);
  -- No decision is made without samples; if there are none, they are no longer kept.
  if not exists (
    select from sample s
    where s.component_id = of_component and s.ts > since and s.ts <= at
  ) then
    return null;
  end if;
  return (
    select e.evidence
    from engine.evidence(array[of_component], since, at, known_at, r) e
  );
end;
$$;

comment on function analytics.evidence(text, text) is
'The votes behind a decision on an incident (opening, escalation, closing, or retraction by the engine), recomputed '
'from raw samples with the rules of that time and what was known then. Equal to the stored evidence, except for probe '
'builds, cadence and regions, which are the current ones. Null if that decision was not made, or its samples are no '
'longer kept.';

create function analytics.without_builds(evidence jsonb) returns jsonb
language sql immutable parallel safe
return regexp_replace(evidence::text, '"probeVersion": ("[^"]*"|null)', '"probeVersion": null', 'g')::jsonb;

comment on function analytics.without_builds(jsonb) is
'Evidence without probe builds. Recomputed evidence has the current builds, so after an upgrade every older decision '
'would differ.';

create function analytics.heads_backwards(from_at timestamptz, to_at timestamptz)
returns table (
  ts               timestamptz,
  region           text,
  venue            text,
  component        text,
  chain            text,
  head             bigint,
  head_before      bigint,
  blocks_backwards bigint
)
language sql stable security definer
set search_path = venuewatch, pg_temp
as $$
  select r.ts, g.region, v.venue, c.component, v.chain, r.head, r.head_before, r.head_before - r.head
  from (
    select
      s.ts,
      s.component_id,
      s.region_id,
      s.head,
      lag(s.head) over (partition by s.component_id, s.region_id order by s.ts) as head_before
    from sample s
    -- by series, to use the index: only few endpoints report a head
    where s.component_id = any (array(
        select c.component_id
        from component c
        join venue v using (venue_id)
        where v.chain is not null and c.kind = 'rest'
      ))
      and s.region_id = any (array(select region_id from region))
      and s.head is not null
      and s.ts > heads_backwards.from_at
      and s.ts <= heads_backwards.to_at
  ) r
  join component c using (component_id)
  join venue v using (venue_id)
  join region g using (region_id)
  where r.head < r.head_before
  order by r.ts, v.position, c.position, g.position
$$;

comment on function analytics.heads_backwards(timestamptz, timestamptz) is
'Readings of a chain''s head after from_at and up to to_at that were lower than the same endpoint''s previous reading '
'in the same region within that time, as a venue''s page counts them (lag.backwards). ts is the slot. From raw '
'samples, which are kept for 8 days.';
