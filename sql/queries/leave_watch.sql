-- A probe that ends says goodbye, so that others take at once what it holds. $1 region; $2 process.
-- What it held stays written down until then: incidents that are decided meanwhile name its build.
update probe p
set alive_until = '-infinity', seen_at = clock_timestamp()
from region g
where g.region = $1 and p.region_id = g.region_id and p.process = $2::uuid
