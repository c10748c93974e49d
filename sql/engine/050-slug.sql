-- The permanent name of an incident: {venue}-{YYYY-MM-DD}-{rest|ws}-{degraded|outage}, and -2, -3 for a further one of
-- the same shape on the same UTC day. `nth` is its place among the incidents opened in the same statement.
create function engine.slug(venue text, started_at timestamptz, kind text, severity state, nth bigint) returns text
language sql stable
begin atomic
  with shape as (
    select format('%s-%s-%s-%s', venue, to_char(started_at at time zone 'UTC', 'YYYY-MM-DD'), kind, severity) as base
  ),
  taken as (
    -- retracted ones keep their names
    select count(*) as n
    from incident i
    join shape s on i.slug = s.base or (i.slug ^@ (s.base || '-') and substr(i.slug, length(s.base) + 2) ~ '^[0-9]+$')
  )
  select s.base || case when t.n + nth > 1 then '-' || (t.n + nth) else '' end
  from shape s, taken t;
end;
