-- Take or renew a lease. was_over: `over` of the previous answer.
--
-- One row: the fence, which grows with each change of holder, null while another holds it; and when the lease of the
-- other expired, null while it has not.
--
-- An expired lease is taken only if the same one had already expired at this holder's previous call. A database that
-- stalled for some seconds (the embedded one does during a refresh) has delayed everyone's renewals: between two calls
-- they are executed, and a living leader keeps its lease.
--
-- PL/pgSQL, because a connection keeps its plan: each core calls it twice a second.
create function engine.lead(office text, holder text, lasts_ms int, was_over timestamptz)
returns table (fence bigint, over text)
language plpgsql
as $$
#variable_conflict use_column
begin
  return query
  with taken as (
    insert into leader as l (office, holder, fence, expires_at)
    values (lead.office, lead.holder, 1, clock_timestamp() + lasts_ms * interval '1 millisecond')
    on conflict (office) do update set
      holder = excluded.holder,
      fence = l.fence + (l.holder <> excluded.holder)::int,
      -- evaluated now: this statement may have waited for a tick to end
      expires_at = clock_timestamp() + lasts_ms * interval '1 millisecond'
    where l.holder = excluded.holder
      -- released
      or l.expires_at = '-infinity'
      -- as of the call, not of the end of a tick that it waited for, which has also delayed the holder's renewals
      or (l.expires_at = was_over and l.expires_at <= now())
    returning fence
  )
  select
    (select t.fence from taken t) as fence,
    -- as text, because it is compared to the microsecond
    (select l.expires_at::text from leader l where l.office = lead.office and l.expires_at <= now()) as over;
end;
$$;
