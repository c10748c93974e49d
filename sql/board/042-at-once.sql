-- Which incidents of different venues began at once, as those of a shared provider do.

-- The longest time between the beginnings of two incidents that began at once: the rule book's `impaired_within_ms`,
-- within which a common host's outage reaches everybody.
create function api.at_once() returns interval
language sql stable
begin atomic
  select (f.rules ->> 'impaired_within_ms')::int * interval '1 millisecond'
  from rules_in_force f
  order by f.holds_from desc
  limit 1;
end;

-- The incidents of other venues that began at once with one, as those of a shared provider do: the hundred nearest to
-- it. For readers; it decides nothing.
create function api.began_at_once(of_venue smallint, began_at timestamptz) returns json
language sql stable
begin atomic
  select coalesce(json_agg(n.slug order by n.started_at, n.slug), '[]')
  from (
    select i.slug, i.started_at
    from incident i
    join component c using (component_id)
    join venue v using (venue_id)
    where i.started_at between began_at - api.at_once() and began_at + api.at_once()
      and v.venue_id <> of_venue
      and v.published
      and i.retracted_at is null
    order by abs(extract(epoch from i.started_at - began_at)), i.slug
    limit 100
  ) n;
end;
