-- After which number a web program keeps changes in memory: those of the last day, but at most $1. {change_id}
select coalesce(
  (
    select e.change_id
    from change_event e
    where e.recorded_at > now() - interval '1 day'
    order by e.change_id desc
    offset $1::int
    limit 1
  ),
  (select min(e.change_id) - 1 from change_event e where e.recorded_at > now() - interval '1 day'),
  (select max(e.change_id) from change_event e),
  0
)::float8 as change_id
