-- A probe that ends says goodbye, so that others take what it held at once. $1 region; $2 process.
with gone as (
  update probe p
  set alive_until = '-infinity'
  from region g
  where g.region = $1 and p.region_id = g.region_id and p.process = $2::uuid
)
delete from watch w
using region g
where g.region = $1 and w.region_id = g.region_id and w.process = $2::uuid
