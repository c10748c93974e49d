-- Maintenance that venues announced. It changes no vote, no sample and no state: it stands beside what we measured.

-- The venue's words for maintenance that will not take place.
create function api.is_called_off(status text) returns boolean
language sql immutable parallel safe
return lower(status) in ('canceled', 'cancelled');

-- A planned end, if it can be one; null otherwise. A year is no maintenance, but a mistake of the feed.
create function api.plausible_end(ends_at timestamptz, started_at timestamptz) returns timestamptz
language sql immutable parallel safe
return case when ends_at > started_at and ends_at < started_at + interval '366 days' then ends_at end;

-- The window of a maintenance as announced in advance, after a reading at `at`: what was known before, and the start
-- and planned end that this reading saw. `stands`: the notice still announces a maintenance with times; `is_over`: the
-- venue says that it is over, without a time. All null without a window.
--
-- A start counts only if it was read before it came: what a venue writes in hindsight announces nothing. An end may be
-- given or moved as long as the end planned until then has not come.
create function api.announced_window(
  before notice, at timestamptz, started_at timestamptz, planned_end_at timestamptz, stands boolean, is_over boolean,
  out window_from timestamptz, out window_until timestamptz, out announced_at timestamptz
)
language sql immutable parallel safe
as $$
  select
    case when w.is_ahead then started_at else before.window_from end,
    case
      when w.is_ahead then planned_end_at
      when is_over then least(before.window_until, at)
      when at < coalesce(before.window_until, 'infinity') and planned_end_at > before.window_from then planned_end_at
      else before.window_until
    end,
    case when w.is_ahead and before.window_from is distinct from started_at then at else before.announced_at end
  from (select at < started_at as is_ahead) w
  where stands and (w.is_ahead or before.window_from < at)
$$;

-- The longest window that counts. A longer one, such as a week of rolling upgrades, says too little about when the
-- venue is away, and would excuse anything.
create function api.longest_maintenance()
returns interval language sql immutable parallel safe return interval '24 hours';

-- The windows that count: announced in advance, about what we measure, and of plausible times. `until_at` is the
-- announced end, null if the venue gave none; `ended_at` the venue's word that it is over; `over_at` is when the window
-- ended or will end.
create view api.maintenance_window as
select
  n.notice_id,
  n.venue_id,
  n.title,
  n.url,
  n.announced_at,
  n.window_from as from_at,
  n.window_until as until_at,
  e.ended_at,
  greatest(
    n.window_from,
    -- `least` ignores nulls
    least(coalesce(n.window_until, n.window_from + api.longest_maintenance()), e.ended_at)
  ) as over_at
from api.notice n
cross join lateral (
  -- taken down while it lasted, it is over; one that only left a list of the newest may go on
  select least(n.resolved_at, case when n.vanished then n.left_at end) as ended_at
) e
where n.window_from is not null
  -- not called off before it began
  and (e.ended_at > n.window_from) is not false
  and not n.doubtful
  and not n.off_topic
  and (n.window_until <= n.window_from + api.longest_maintenance()) is not false;

-- The Maintenance object beside an incident or a state. `overran`: our incident went on after the window.
create function api.maintenance_body(w api.maintenance_window, overran boolean) returns json
language sql stable
return json_build_object(
  'title', w.title,
  'from', api.iso(w.from_at),
  -- `least` ignores nulls
  'until', api.iso(least(w.until_at, w.ended_at)),
  'announcedAt', api.iso(w.announced_at),
  'url', w.url,
  'overran', overran
);

-- The announced maintenance that covers the opening of an incident: its window overlaps the time from the first bad
-- sample to the opening. Of several, the one that ends last. It overran if the incident was seen after it. plpgsql for
-- its cached plan, as for api.notice_beside.
create function api.maintenance_beside(
  of_venue smallint, started_at timestamptz, opened_at timestamptz, last_bad_at timestamptz
)
returns json
language plpgsql stable
as $$
begin
  return (
    select api.maintenance_body(w, w.over_at <= maintenance_beside.last_bad_at)
    from api.maintenance_window w
    where w.venue_id = of_venue
      and w.from_at <= maintenance_beside.opened_at and w.over_at > maintenance_beside.started_at
      -- for the index: no window is longer
      and w.from_at > maintenance_beside.started_at - api.longest_maintenance()
    order by w.over_at desc, w.notice_id
    limit 1
  );
end;
$$;

-- The announced maintenance of each venue that is under way, or that covers the opening of an open incident and
-- overran.
create function api.maintenance_now() returns table (venue_id smallint, body json)
language sql stable
begin atomic
  with under_way as (
    select w.venue_id, w.over_at, api.maintenance_body(w, false) as body
    from api.clock k
    join api.maintenance_window w
      on w.from_at <= k.generated_at
      and w.from_at > k.generated_at - api.longest_maintenance()
      and w.over_at > k.generated_at
  ),
  overrun as (
    select c.venue_id, w.over_at, api.maintenance_body(w, true) as body
    from incident i
    join component c using (component_id)
    join api.maintenance_window w
      on w.venue_id = c.venue_id
      and w.from_at <= i.opened_at and w.over_at > i.started_at
      and w.from_at > i.started_at - api.longest_maintenance()
      and w.over_at <= i.last_bad_at
    where i.closed_at is null and i.retracted_at is null
  )
  select distinct on (m.venue_id) m.venue_id, m.body
  from (select * from under_way union all select * from overrun) m
  order by m.venue_id, m.over_at desc;
end;

-- All maintenance in the venues' feeds with plausible times; so without announcements, whose only time is that of their
-- publication. An end is there only if the venue gave one.
create view api.maintenance as
select
  n.notice_id,
  n.venue_id,
  v.name as venue_name,
  n.title,
  coalesce(n.url, v.official_page) as url,
  n.status,
  n.started_at,
  -- where the venue gives no start, the notice has the reading that saw it first
  n.started_at <> n.first_seen_at as is_start_given,
  e.ends_at,
  e.ends_at is distinct from n.resolved_at as is_end_planned,
  s.is_cancelled,
  -- one that left a list of present notices is over, though the venue may not have said so
  n.over or n.left_at is not null or coalesce(n.resolved_at <= k.generated_at, false) as is_over,
  n.announced_at
from api.notice n
join venue v using (venue_id)
join notice o using (notice_id)
cross join api.clock k
cross join lateral (
  select case when n.resolved_at > n.started_at then n.resolved_at when n.resolved_at is null then n.planned_end_at end
    as ends_at
) e
cross join lateral (
  -- taken down afterwards, it may well have taken place
  select api.is_called_off(n.status) or (n.vanished and n.left_at < n.started_at) as is_cancelled
) s
where n.kind = 'maintenance' and o.scope <> 'announcements' and not n.doubtful and v.published;

-- When a notice was last news, or left its feed. (`last_seen_at` also moves when a feed is only written again.)
create function api.notice_modified_at(of_notice bigint) returns timestamptz
language sql stable
return (
  select greatest(max(c.at), max(n.left_at), max(n.first_seen_at))
  from notice n
  left join notice_change c using (notice_id)
  where n.notice_id = of_notice
);

-- Newest start first, at most 500: what began in the last ninety days or is to come; `only_ahead`: what is under way or
-- planned for the next 48 hours. A venue may forget to say that its work ended: without a plan for longer it is no
-- longer ahead after a day. `body` is the Maintenance object.
create function api.maintenance_list(only_venue text, only_category text, only_ahead boolean)
returns table (started_at timestamptz, notice_id bigint, venue_id smallint, body json)
language sql stable
begin atomic
  select
    m.started_at,
    m.notice_id,
    m.venue_id,
    json_build_object(
      'id', api.feed_uuid(format('maintenance %s %s', m.venue_id, m.notice_id)),
      'venue', v.venue,
      'venueName', m.venue_name,
      'title', m.title,
      'url', m.url,
      'from', api.iso(m.started_at),
      'until', api.iso(m.ends_at),
      'state', s.state,
      'status', m.status,
      'announcedAt', api.iso(m.announced_at),
      'counts', exists (
        select from api.maintenance_window w where w.notice_id = m.notice_id and w.venue_id = m.venue_id
      )
    ) as body
  from api.clock k
  cross join api.maintenance m
  join venue v using (venue_id)
  cross join lateral (
    select case
      when m.is_cancelled then 'cancelled'
      when m.started_at > k.generated_at then 'planned'
      when m.is_over then 'over'
      else 'underway'
    end as state
  ) s
  where (only_venue is null or v.venue = only_venue)
    and (only_category is null or v.category = only_category)
    and m.started_at > k.generated_at - interval '90 days'
    and (
      not only_ahead
      or s.state = 'planned' and m.started_at <= k.generated_at + interval '48 hours'
      or s.state = 'underway' and coalesce(m.ends_at, m.started_at) > k.generated_at - interval '1 day'
    )
  order by m.started_at desc, m.notice_id desc, m.venue_id
  limit 500;
end;
