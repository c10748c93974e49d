-- For analysts: what venues declare about deposits and withdrawals. None of it was measured by us.

create view analytics.transfers as
select
  r.venue,
  l.asset,
  l.network,
  l.venue_network,
  s.direction,
  case when r.fresh then s.state else 'unknown' end as state,
  r.fresh and s.unstable as unstable,
  case when r.fresh then s.because else r.problem end as because,
  case when r.fresh then s.since else greatest(s.since, r.read_at) end as since,
  l.missing_since,
  r.read_at
from api.clock k
cross join lateral api.transfer_sources(k.generated_at) r
join transfer_line l using (venue_id)
join transfer_state s using (line_id)
join transfer_asset a using (asset)
where r.kind is not null and a.published;

comment on view analytics.transfers is
'One row per venue, asset, network and direction: what the venue declares now, in its own list. Not measured by us.';
comment on column analytics.transfers.venue is 'Venue id';
comment on column analytics.transfers.asset is 'Symbol of the asset';
comment on column analytics.transfers.network is
'Id of the network in our list; null: the list does not have it, or the venue says it by asset alone';
comment on column analytics.transfers.venue_network is
'The network in the venue''s own spelling; null: it says it by asset alone';
comment on column analytics.transfers.direction is 'deposit or withdrawal';
comment on column analytics.transfers.state is
'open, paused or unknown: not said, not read for twenty minutes, not understood, or changed too often';
comment on column analytics.transfers.unstable is 'True: it changed more than six times within an hour';
comment on column analytics.transfers.because is 'In the venue''s words, or why it is unknown; null: none';
comment on column analytics.transfers.since is
'First reading that showed this state; of a list that is not read any more, the last reading';
comment on column analytics.transfers.missing_since is
'First reading of the venue''s list without it; null: the newest one has it. After seven days the API leaves it out';
comment on column analytics.transfers.read_at is 'Last reading of the list that was understood; null: none was';

create view analytics.transfer_spans as
select
  v.venue,
  l.asset,
  l.network,
  l.venue_network,
  x.direction,
  x.started_at,
  x.ended_at,
  x.state,
  x.begins,
  x.unstable,
  x.because
from transfer_span x
join transfer_line l using (line_id)
join venue v using (venue_id);

comment on view analytics.transfer_spans is
'Former states, each cut at midnight UTC: one row per piece. The present state is in transfers, and so is its part of '
'today. Kept for 400 days.';
comment on column analytics.transfer_spans.venue is 'Venue id';
comment on column analytics.transfer_spans.asset is 'Symbol of the asset';
comment on column analytics.transfer_spans.network is 'Id of the network, as in transfers';
comment on column analytics.transfer_spans.venue_network is 'The venue''s spelling, as in transfers';
comment on column analytics.transfer_spans.direction is 'deposit or withdrawal';
comment on column analytics.transfer_spans.started_at is 'Start of the piece';
comment on column analytics.transfer_spans.ended_at is 'End of the piece';
comment on column analytics.transfer_spans.state is 'open, paused or unknown';
comment on column analytics.transfer_spans.begins is
'True: the state began here; false: it continues after midnight, or after a time without readings';
comment on column analytics.transfer_spans.unstable is 'True: unknown because it changed too often';
comment on column analytics.transfer_spans.because is 'In the venue''s words, or why it is unknown; null: none';

create view analytics.transfer_days as
select
  (d.day at time zone 'UTC')::date as day,
  v.venue,
  l.asset,
  l.network,
  l.venue_network,
  d.direction,
  coalesce(d.open_minutes, 0) as open_minutes,
  coalesce(d.paused_minutes, 0) as paused_minutes,
  coalesce(d.unknown_minutes, 0) as unknown_minutes,
  d.pauses
from transfer_day d
join transfer_line l using (line_id)
join venue v using (venue_id);

comment on view analytics.transfer_days is
'One row per line, direction and UTC day: the minutes of each state that is over by then, rolled up every ten minutes. '
'A day that is not over, or not read yet after midnight, is incomplete. Kept forever.';
comment on column analytics.transfer_days.day is 'UTC day';
comment on column analytics.transfer_days.venue is 'Venue id';
comment on column analytics.transfer_days.asset is 'Symbol of the asset';
comment on column analytics.transfer_days.network is 'Id of the network, as in transfers';
comment on column analytics.transfer_days.venue_network is 'The venue''s spelling, as in transfers';
comment on column analytics.transfer_days.direction is 'deposit or withdrawal';
comment on column analytics.transfer_days.open_minutes is 'Minutes that the venue declared open';
comment on column analytics.transfer_days.paused_minutes is 'Minutes that it declared paused';
comment on column analytics.transfer_days.unknown_minutes is 'Minutes of which nothing is known';
comment on column analytics.transfer_days.pauses is 'Pauses that began on that day';
