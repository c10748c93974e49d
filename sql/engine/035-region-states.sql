-- Chapter 3 of docs/rulebook.md: how each region sees each component now.

-- Stores what each region sees now, for readers and the next chapters. Only changes are written.
--
-- For a fleet the window is planned each time: a generic plan expects few rows of it. With few components that does no
-- harm, and one generic plan saves a third of the tick. Grouping sixty thousand series takes some twenty megabytes.
create function engine.store_region_states(at timestamptz, r engine.rules) returns void
language plpgsql
set plan_cache_mode = force_custom_plan
set work_mem = '64MB'
as $$
declare
  since   timestamptz := at - engine.longest_span(r);
  is_few  boolean := not exists (select from component offset 500);
begin
  -- local to this function: the function's own SET clause restores the previous value at its end
  if is_few then
    perform set_config('plan_cache_mode', 'force_generic_plan', true);
  end if;

  with seen as materialized (
    select * from engine.region_verdicts(null, since, at, at, r)
  ),
  -- not by "on conflict", which would lock, and thus write, unchanged rows
  changed as (
    update region_state k
    set state = s.state,
        since = case when k.state = s.state then k.since else at end,
        bad_since = case when engine.is_bad(s.state) then coalesce(k.bad_since, at) end,
        bad_until = case when k.bad_since is not null and not engine.is_bad(s.state) then at else k.bad_until end,
        reporting = s.reporting,
        samples = s.samples,
        bad = s.failed,
        slow = s.slow,
        refused = s.refused,
        may_be_ours = s.may_be_ours,
        answers_badly = s.answers_badly,
        bad_run = s.bad_run,
        run_from = s.run_from,
        in_part = s.in_part,
        newest_at = s.newest_at,
        newest_fault = s.newest_fault,
        newest_bad_at = s.newest_bad_at
    from seen s
    where k.component_id = s.component_id and k.region_id = s.region_id
      and (
        k.state, k.reporting, k.samples, k.bad, k.slow, k.refused, k.may_be_ours, k.answers_badly, k.bad_run,
        k.run_from, k.in_part, k.newest_at, k.newest_fault, k.newest_bad_at
      )
        is distinct from
        (
          s.state, s.reporting, s.samples, s.failed, s.slow, s.refused, s.may_be_ours, s.answers_badly, s.bad_run,
          s.run_from, s.in_part, s.newest_at, s.newest_fault, s.newest_bad_at
        )
  ),
  added as (
    insert into region_state (
      component_id, region_id, state, since, bad_since, reporting, samples, bad, slow, refused, may_be_ours,
      answers_badly, bad_run, run_from, in_part, newest_at, newest_fault, newest_bad_at
    )
    select
      s.component_id, s.region_id, s.state, at, case when engine.is_bad(s.state) then at end,
      s.reporting, s.samples, s.failed, s.slow, s.refused, s.may_be_ours, s.answers_badly, s.bad_run, s.run_from,
      s.in_part, s.newest_at, s.newest_fault, s.newest_bad_at
    from seen s
    where not exists (select from region_state k where k.component_id = s.component_id and k.region_id = s.region_id)
  )
  -- a silent series has no sample in its window any more; its last sample stays as the last known, with its fault
  update region_state s
  set state = 'unknown',
      since = case when s.state = 'unknown' then s.since else at end,
      bad_since = null, bad_until = case when s.bad_since is null then s.bad_until else at end,
      reporting = false, samples = 0, bad = 0, slow = 0, refused = false, may_be_ours = false, answers_badly = false,
      bad_run = 0, run_from = null, in_part = false, newest_bad_at = null
  where (s.reporting or s.samples > 0)
    and not exists (select from seen n where n.component_id = s.component_id and n.region_id = s.region_id);
end;
$$;
