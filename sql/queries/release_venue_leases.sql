-- A probe releases its venue leases at shutdown, so that others take its venues at once. $1 region; $2 process. Its
-- venues stay recorded until then: incidents decided meanwhile name its build.
update probe p
set alive_until = '-infinity', seen_at = clock_timestamp()
from region g
where g.region = $1 and p.region_id = g.region_id and p.process = $2::uuid
