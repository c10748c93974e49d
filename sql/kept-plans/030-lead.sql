-- Take or keep an office for a while. was_over: `over` as it was answered last.
--
-- One row: the number that moves at each change of holder, null while another one has it; and when the lease of that
-- other one ran out, null while it has not.
--
-- A lease that is over is taken only when it was over and the very same when this holder asked before. A database that
-- stood still for some seconds (the embedded one does, for the length of a refresh) has kept everybody's renewals
-- waiting: between two questions they are done, and who lives still leads.
--
-- In PL/pgSQL since a connection keeps its plan: each core asks twice a second.
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
      -- computed now: this may have waited for a tick to end
      expires_at = clock_timestamp() + lasts_ms * interval '1 millisecond'
    where l.holder = excluded.holder
      -- handed over
      or l.expires_at = '-infinity'
      -- as of the question, not of the end of a tick that it waited for, which has kept the holder's renewals waiting
      -- too
      or (l.expires_at = was_over and l.expires_at <= now())
    returning fence
  )
  select
    (select t.fence from taken t) as fence,
    -- as text, since it is compared to the microsecond
    (select l.expires_at::text from leader l where l.office = lead.office and l.expires_at <= now()) as over;
end;
$$;
