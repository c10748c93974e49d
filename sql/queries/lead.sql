-- Take or keep an office for a while. $1 office, $2 holder, $3 how long in milliseconds, $4 `over` as it was answered last.
-- {fence, over}: the number that moves at each change of holder, null while another one has it; and when the lease of that
-- other one ran out, null while it has not.
--
-- A lease that is over is taken only when it was over and the very same when this holder asked before. A database that
-- stood still for some seconds (the embedded one does, for the length of a refresh) has kept everybody's renewals waiting:
-- between two questions they are done, and who lives still leads.
with taken as (
  insert into leader as l (office, holder, fence, expires_at)
  values ($1, $2, 1, clock_timestamp() + $3::int * interval '1 millisecond')
  on conflict (office) do update set
    holder = excluded.holder,
    fence = l.fence + (l.holder <> excluded.holder)::int,
    -- computed now: this may have waited for a tick to end
    expires_at = clock_timestamp() + $3::int * interval '1 millisecond'
  where l.holder = excluded.holder
    -- handed over
    or l.expires_at = '-infinity'
    -- as of the question, not of the end of a tick that it waited for, which has kept the holder's renewals waiting too
    or (l.expires_at = $4::timestamptz and l.expires_at <= now())
  returning fence
)
select
  (select t.fence from taken t) as fence,
  -- as text, since it is compared to the microsecond
  (select l.expires_at::text from leader l where l.office = $1 and l.expires_at <= now()) as over
