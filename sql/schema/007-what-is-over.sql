-- What is over stays as it is, and an operator's word has an end.

-- what was bad already when 005 was applied
update region_state set bad_since = since where bad_since is null and state in ('degraded', 'outage');

alter table incident
  add check (retracted_at >= opened_at),
  add check (retraction_evidence is null or retracted_at is not null),
  -- of one that an operator retracted while it was open: until then its trouble lasted, and opened nothing
  add column dismissed_until timestamptz check (dismissed_until > retracted_at);

-- those that keep their component from opening
create index incident_dismissed on incident (component_id)
where retracted_at is not null and retraction_evidence is null and closed_at is null and dismissed_until is null;

-- History is not rewritten. What an incident is called, where and when it began and by which votes never changes, its peak does
-- not fall, and what was noted once stays. Once it is closed nothing changes but for its retraction, once and as a whole; and
-- of what was retracted only until when the operator's word held.
create or replace function refuse_rewriting() returns trigger
language plpgsql
as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'incident % cannot be deleted; retract it instead', old.slug
      using constraint = 'refuse_rewriting';
  end if;
  if (new.incident_id, new.slug, new.component_id, new.started_at, new.opened_at, new.flapping, new.evidence -> 'opening')
    is distinct from
    (old.incident_id, old.slug, old.component_id, old.started_at, old.opened_at, old.flapping, old.evidence -> 'opening')
  then
    raise exception 'the name, the beginning and the opening of incident % cannot be changed', old.slug
      using constraint = 'refuse_rewriting';
  end if;
  if old.retracted_at is not null
    and (
      old.dismissed_until is not null
      or to_jsonb(new) - 'dismissed_until' is distinct from to_jsonb(old) - 'dismissed_until'
    )
  then
    raise exception 'incident % was retracted at %, and cannot be changed any more', old.slug, old.retracted_at
      using constraint = 'refuse_rewriting';
  end if;
  if old.closed_at is not null
    and to_jsonb(new) - '{retracted_at,retraction_reason,retraction_evidence}'::text[]
      is distinct from to_jsonb(old) - '{retracted_at,retraction_reason,retraction_evidence}'::text[]
  then
    raise exception 'incident % was closed at %, and cannot be changed any more', old.slug, old.closed_at
      using constraint = 'refuse_rewriting';
  end if;
  if new.peak_severity < old.peak_severity
    or new.last_bad_at < old.last_bad_at
    or (
      old.escalated_at is not null
      and (new.escalated_at, new.evidence -> 'escalation')
        is distinct from (old.escalated_at, old.evidence -> 'escalation')
    )
  then
    raise exception 'what incident % was at its worst, and until when, cannot be taken back', old.slug
      using constraint = 'refuse_rewriting';
  end if;
  return new;
end;
$$;
