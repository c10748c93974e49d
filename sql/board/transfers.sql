-- Which deposits and withdrawals the venues declare open, by asset and network, and which venues say nothing that can
-- be read. One row {generated_at, body}, or none if the database does not have the venue.
--
-- $1 venue or null; $2 asset or null; $3 only lines of which a direction is paused; $4 how many of the venue's newest
-- pauses are listed; 0: none.
select
  k.generated_at,
  json_build_object(
    'generatedAt', api.iso(k.generated_at),
    'stale', false,
    'ageSeconds', null,
    'decidedAt', null,
    'windowFrom', api.iso(greatest(w.from_day, k.generated_at - api.transfer_days() * interval '1 day')),
    'withdrawalsPaused', t.withdrawals_paused,
    'depositsPaused', t.deposits_paused,
    'transfers', t.lines,
    'sources', api.transfer_source_bodies(k.generated_at, $1::text),
    'pauses', case when $4::int = 0 then '[]' else api.transfer_pauses(k.generated_at, $1::text, $4::int) end
  )::text as body
from api.clock k
cross join transfer_window w
cross join lateral (
  select
    count(*) filter (where (r.withdrawal).state = 'paused')::int as withdrawals_paused,
    count(*) filter (where (r.deposit).state = 'paused')::int as deposits_paused,
    coalesce(json_agg(r), '[]') as lines
  from api.transfers_of(k.generated_at, $1::text, $2::text, $3::boolean) r
) t
where $1::text is null or exists (select from api.venue v where v.venue = $1::text)
