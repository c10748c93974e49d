-- Bring what a probe holds to its share: what is too much is let go, and what nobody alive holds is taken. One row {venues}.
--
-- $1 region; $2 process; $3 its share, as keep_probe.sql said; $4 whether it may take what a dead one held: who was cut off from this database itself may not yet, for the others
-- were too, and are about to say that they live. To be run in the transaction of hold_watch.sql, after it.
with here as materialized (
  select g.region_id from region g where g.region = $1
),
venues as materialized (
  select
    v.venue_id,
    v.venue,
    v.position,
    v.published,
    w.process = $2::uuid as mine,
    w.process is null as free,
    w.process is not null and p.process is null as orphaned
  from here h
  cross join venue v
  left join watch w on w.region_id = h.region_id and w.venue_id = v.venue_id
  left join probe p on p.region_id = h.region_id and p.process = w.process and (p.alive_until > clock_timestamp() or p.process = $2::uuid)
),
kept as (
  select v.venue_id, row_number() over (order by v.position, v.venue_id) <= $3::int as keeps
  from venues v
  where v.mine and v.published
),
let_go as (
  delete from watch w
  using here h, venues v
  where w.region_id = h.region_id
    and w.venue_id = v.venue_id
    and (not v.published or v.venue_id in (select k.venue_id from kept k where not k.keeps))
),
taken as (
  insert into watch as w (region_id, venue_id, process)
  select h.region_id, t.venue_id, $2::uuid
  from here h
  cross join lateral (
    select v.venue_id
    from venues v
    where v.published and (v.free or (v.orphaned and $4))
    order by v.position, v.venue_id
    limit greatest(0, $3::int - (select count(*) from kept))
  ) t
  on conflict (region_id, venue_id) do update set process = excluded.process
  returning w.venue_id
)
select coalesce(array_agg(v.venue order by v.position, v.venue), '{}') as venues
from venues v
where v.venue_id in (select k.venue_id from kept k where k.keeps)
  or v.venue_id in (select t.venue_id from taken t)
