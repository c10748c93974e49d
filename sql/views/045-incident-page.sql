-- Which incidents does a page of the history have, newest first? Of the UTC days of a window, today included, as everything
-- that counts them. Each filter is null or set; `before_id` breaks the tie where several started at `before`. One function, so
-- that JSON and CSV have the same rows.
create function api.incident_page(
  only_venue text, only_category text, only_status text, window_days integer, max_rows integer,
  before timestamptz, before_id bigint
)
returns table (venue_id smallint, started_at timestamptz, incident_id bigint, body json)
language sql stable
begin atomic
  select i.venue_id, i.started_at, i.incident_id, i.body
  from api.incident i
  where (only_venue is null or i.venue = only_venue)
    and (only_category is null or i.category = only_category)
    -- so that the index of open ones is found
    and (only_status <> 'open' or i.closed_at is null)
    and (only_status <> 'closed' or i.closed_at is not null)
    -- one value, not a joined row: then the newest are read in the order of their index, and no more of them than a page
    and i.started_at >= (select (k.today - window_days + 1)::timestamp at time zone 'UTC' from api.clock k)
    and (
      before is null
      or i.started_at < before
      -- two incidents may start at one instant: the id breaks the tie
      or (i.started_at = before and i.incident_id < before_id)
    )
  order by i.started_at desc, i.incident_id desc
  limit max_rows;
end;
