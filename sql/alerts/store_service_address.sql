-- $1 base URL, $2 site URL. Writes nothing if both are already stored. Returns what was replaced, null if there was
-- nothing: {replaced}.
with former as (
  select base_url from service_address
),
kept as (
  insert into service_address as a (base_url, site_url, set_at)
  values ($1, $2, now())
  on conflict (one_row) do update
  set base_url = excluded.base_url, site_url = excluded.site_url, set_at = excluded.set_at
  where (a.base_url, a.site_url) is distinct from (excluded.base_url, excluded.site_url)
  returning base_url
)
select (select base_url from former) as replaced
from kept
