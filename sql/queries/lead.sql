-- Take or keep an office for a while. $1 office, $2 holder, $3 how long in milliseconds.
-- {leads, fence}: whether the holder has it now, and the number that moves at each change of holder.
with taken as (
  insert into leader as l (office, holder, fence, expires_at)
  values ($1, $2, 1, now() + $3::int * interval '1 millisecond')
  on conflict (office) do update set
    holder = excluded.holder,
    fence = l.fence + (l.holder <> excluded.holder)::int,
    expires_at = excluded.expires_at
  where l.holder = excluded.holder or l.expires_at <= now()
  returning fence
)
select true as leads, fence from taken
union all
select false, null where not exists (select from taken)
