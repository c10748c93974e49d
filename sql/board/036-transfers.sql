-- What venues declare about deposits and withdrawals, beside their own notices. Nothing here was measured by us, and
-- nothing of it changes a state.

-- A list that was not understood for this long says nothing of the present. Lists are read every five minutes: three
-- readings may fail, one of them after a venue has asked us to wait.
create function api.transfers_unknown_after()
returns interval language sql immutable parallel safe return interval '20 minutes';

-- More changes between open and paused than this within an hour are no news but a venue that contradicts itself. With a
-- reading every five minutes, twelve changes are possible; six are a pause three times within the hour, as venues do
-- while they move their wallets.
create function api.transfer_flips_allowed() returns integer language sql immutable parallel safe return 6;

create function api.transfer_flips_within()
returns interval language sql immutable parallel safe return interval '1 hour';

-- Length of the window, in UTC days.
create function api.transfer_days() returns integer language sql immutable parallel safe return 90;

-- The list of each published venue that has one, or the reason why nobody can read it. Judged here, as of the instant
-- of the answer, so that it also works when core is dead.
create view api.transfer_source as
select
  s.venue_id,
  v.venue,
  v.name,
  v.position,
  s.kind,
  s.because,
  f.fresh,
  least(s.read_at, k.generated_at) as read_at,
  case
    when s.kind is null then null
    when s.problem is not null or f.fresh then s.problem
    else coalesce('not read since ' || api.iso(s.read_at), 'not read yet')
  end as problem
from transfer_source s
join venue v using (venue_id)
cross join api.clock k
cross join lateral (
  -- six minutes: as of a feed that is read while the engine hangs (035-official.sql)
  select coalesce(
    s.read_at between k.generated_at - api.transfers_unknown_after() and k.generated_at + interval '6 minutes', false
  ) as fresh
) f
where s.published and v.published;

-- One direction of a line, as of the instant of the answer. A state that was not confirmed for too long is unknown
-- since the last reading that did; so is one that nobody asks for any more.
create view api.transfer as
select
  l.line_id,
  l.venue_id,
  r.venue,
  r.name as venue_name,
  r.position as venue_position,
  l.asset,
  a.position as asset_position,
  n.network,
  l.venue_network,
  n.name as network_name,
  t.direction,
  case when r.fresh then t.state else 'unknown' end as state,
  r.fresh and t.unstable as unstable,
  case when r.fresh then t.because else r.problem end as because,
  least(case when r.fresh then t.since else greatest(t.since, r.read_at) end, k.generated_at) as since,
  r.read_at,
  -- the part of the state that is in no span yet: known until the newest reading
  t.state as counted_state,
  t.since >= t.counted_to as counted_begins,
  greatest(extract(epoch from r.read_at - t.counted_to), 0)::float8 / 60 as uncounted_minutes
from transfer_line l
join transfer_state t using (line_id)
join transfer_asset a using (asset)
join api.transfer_source r using (venue_id)
cross join api.clock k
left join transfer_network n on n.network = l.network and n.published
where a.published and r.kind is not null;

-- What the window has of each direction: minutes by state, and how often it was paused. The complete days are added up
-- already; the spans since then are few.
create view api.transfer_history as
select
  t.line_id,
  t.direction,
  coalesce(p.open_minutes, 0) + coalesce(s.open_minutes, 0)
    + case t.counted_state when 'open' then t.uncounted_minutes else 0 end as open_minutes,
  coalesce(p.paused_minutes, 0) + coalesce(s.paused_minutes, 0)
    + case t.counted_state when 'paused' then t.uncounted_minutes else 0 end as paused_minutes,
  coalesce(p.pauses, 0) + coalesce(s.pauses, 0)
    + case when t.counted_state = 'paused' and t.counted_begins then 1 else 0 end as pauses
from api.transfer t
left join transfer_past p using (line_id, direction)
left join (
  select
    x.line_id,
    x.direction,
    sum(extract(epoch from x.ended_at - x.started_at)::float8) filter (where x.state = 'open') / 60 as open_minutes,
    sum(extract(epoch from x.ended_at - x.started_at)::float8) filter (where x.state = 'paused') / 60
      as paused_minutes,
    count(*) filter (where x.state = 'paused' and x.begins)::int as pauses
  from transfer_span x
  where x.started_at >= (select w.to_day from transfer_window w)
  group by x.line_id, x.direction
) s using (line_id, direction);
