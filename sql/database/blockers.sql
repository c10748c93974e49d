-- The backends that backend $1 waits for: {pid, name, age_s, relation}, the oldest transaction first. Their statements
-- are omitted, because they may contain secrets. The age is null if this user may not see it.
select
  b.pid,
  case
    when b.pid = 0 then 'a prepared transaction'
    else coalesce(nullif(a.application_name, ''), a.backend_type, 'gone')
  end as name,
  round(extract(epoch from clock_timestamp() - a.xact_start))::int as age_s,
  (select l.relation::regclass::text from pg_locks l where l.pid = $1 and not l.granted limit 1) as relation
from unnest(pg_blocking_pids($1)) as b (pid)
left join pg_stat_activity a using (pid)
order by a.xact_start, b.pid
