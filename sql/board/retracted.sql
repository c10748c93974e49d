-- When and why an incident was retracted: $1 slug. {retracted_at, reason}, or no row if no such incident was retracted,
-- or its venue is no longer published.
select r.retracted_at, r.reason from api.retracted r where r.slug = $1
