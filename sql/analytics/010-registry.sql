-- For analysts: what is watched, from where, and by which build. The views of schema analytics are a stable interface:
-- columns may be added, but are never renamed or redefined. Names are those of the API, times are UTC, and column names
-- carry units.
--
-- A view reads with its owner's rights, so analysts need no rights on the tables below it. But the functions that it
-- calls run with the analyst's rights: they must only compute, or be `security definer`.
--
-- Names come from left joins, so the planner drops the joins whose columns a query does not use. A filter on a name
-- turns them into inner joins, and the query then uses the samples' index by series.

comment on schema analytics is
'The interface for analysts; see docs/analysts.md. Times are UTC, names carry their units, and null means that '
'nothing was measured.';

create view analytics.clock as
select k.generated_at, k.engine_fresh, k.ticked_at
from api.clock k;

comment on view analytics.clock is
'One row: the instant that this schema and the API describe. Query windows that end at generated_at to match the API.';
comment on column analytics.clock.generated_at is
'Instant of the engine''s newest tick; while the engine is silent, half a minute ago or the last change';
comment on column analytics.clock.engine_fresh is
'False: the engine has been silent for five minutes, and every state reads unknown';
comment on column analytics.clock.ticked_at is 'When the engine last decided; null if it never did';

create view analytics.venues as
select
  v.venue,
  v.name,
  v.category,
  v.symbol,
  v.quote,
  v.chain,
  v.published,
  s.state,
  s.since as state_since,
  v.official_kind,
  v.official_page,
  v.feed_id as feed_id,
  v.official_about,
  v.official_not_about,
  v.ends_at
from venue v
left join api.venue s using (venue_id);

comment on view analytics.venues is 'One row per venue of the registry, including former ones, with its current state.';
comment on column analytics.venues.venue is 'Id, as in the API';
comment on column analytics.venues.name is 'Display name';
comment on column analytics.venues.category is 'exchange, rpc, oracle, …, as in the registry';
comment on column analytics.venues.symbol is 'Instrument that is measured; null if there is none';
comment on column analytics.venues.quote is 'Currency in which that instrument is quoted';
comment on column analytics.venues.chain is 'Chain whose head its endpoints report; null if they report none';
comment on column analytics.venues.published is 'False: it has left the registry, and the API no longer shows it';
comment on column analytics.venues.state is
'Current state: operational, degraded, outage or unknown; null if not published';
comment on column analytics.venues.state_since is 'Start of that state';
comment on column analytics.venues.official_kind is 'Kind of its status feed, see docs/comparing.md; null: none';
comment on column analytics.venues.official_page is 'URL of its status page';
comment on column analytics.venues.feed_id is
'Its feed in feed_readings and feed_entries, which several venues may share; null: no machine-readable feed';
comment on column analytics.venues.official_about is
'If several services share the feed: lower-case `like` patterns that select entries about this venue; null: all '
'entries';
comment on column analytics.venues.official_not_about is
'Lower-case `like` patterns for notices about things we do not measure; null: none';
comment on column analytics.venues.ends_at is
'From then on it is not measured, and the API shows only its history; null: no end is known';

create view analytics.components as
select
  v.venue,
  c.component,
  c.kind,
  c.label,
  c.target,
  c.cadence_ms,
  c.stall_after_ms,
  c.published and v.published as published,
  s.state,
  s.since as state_since
from component c
join venue v using (venue_id)
left join api.component_state s using (component_id);

comment on view analytics.components is
'One row per component: a REST endpoint, a stream, or the socket (ws:conn) of a venue, with its current state.';
comment on column analytics.components.venue is 'Venue id';
comment on column analytics.components.component is
'rest:NAME, ws:NAME, or ws:conn for the socket; unique only within its venue';
comment on column analytics.components.kind is 'rest or ws';
comment on column analytics.components.label is 'Description for people';
comment on column analytics.components.target is 'The measured address; of an operator''s own, the origin';
comment on column analytics.components.cadence_ms is 'Interval between measurements from one region, in milliseconds';
comment on column analytics.components.stall_after_ms is
'Streams: a longer silence is a stall, in milliseconds; null otherwise';
comment on column analytics.components.published is 'False: it has left the registry, and the API no longer shows it';
comment on column analytics.components.state is
'Current state: operational, degraded, outage or unknown; null if not published';
comment on column analytics.components.state_since is 'Start of that state';

create view analytics.watched_times as
select v.venue, c.component, lower(w.span) as started_at, upper(w.span) as ended_at
from component c
join venue v using (venue_id)
cross join unnest(tstzmultirange(tstzrange(c.watched_from, null)) - c.unwatched) as w (span);

comment on view analytics.watched_times is
'One row per period in which the registry listed a component. An instant is decided by the registry at the time of the '
'decision. Kept forever.';
comment on column analytics.watched_times.venue is 'Venue id';
comment on column analytics.watched_times.component is 'rest:NAME, ws:NAME, or ws:conn for the socket';
comment on column analytics.watched_times.started_at is 'When it was added, or was back';
comment on column analytics.watched_times.ended_at is
'When it left the registry or ends with its venue; null: neither is known';

create view analytics.entry_changes as
select v.venue, c.component, e.holds_from, e.good_at
from component_entry e
join component c using (component_id)
join venue v using (venue_id);

comment on view analytics.entry_changes is
'One row per version of a component''s entry in the registry: its host, path, proof or subscription. Kept forever.';
comment on column analytics.entry_changes.venue is 'Venue id';
comment on column analytics.entry_changes.component is 'rest:NAME, ws:NAME, or ws:conn for the socket';
comment on column analytics.entry_changes.holds_from is 'Valid from here until the next row; of the first, always';
comment on column analytics.entry_changes.good_at is
'First instant at which a region had seen it good by this entry; null: never';

create view analytics.regions as
select g.region, g.name, g.position = 1 as is_primary, g.published
from region g;

comment on view analytics.regions is 'One row per region from which probes measure.';
comment on column analytics.regions.region is 'Id, as in the API';
comment on column analytics.regions.name is 'Display name';
comment on column analytics.regions.is_primary is 'True: the region that a venue''s page shows by default';
comment on column analytics.regions.published is 'False: it has left the registry';

create view analytics.probes as
select
  g.region,
  p.version,
  p.started_at,
  p.seen_at,
  p.venues,
  p.unmeasured as unmeasured_slots,
  p.unmeasured_by as unmeasured_slots_by_reason,
  p.clock_error_ms,
  p.clock_error_within_ms,
  p.troubles
from api.probe p
join region g using (region_id);

comment on view analytics.probes is
'One row per running probe; for a region without one, the probe that reported last.';
comment on column analytics.probes.region is 'Region that it measures from';
comment on column analytics.probes.version is 'Build';
comment on column analytics.probes.started_at is 'When it started';
comment on column analytics.probes.seen_at is 'Its last heartbeat';
comment on column analytics.probes.venues is 'Number of venues that it holds now';
comment on column analytics.probes.unmeasured_slots is
'Slots since its start that it did not measure, because of its own trouble or to spare a venue';
comment on column analytics.probes.unmeasured_slots_by_reason is 'The same by reason, {reason: slots}';
comment on column analytics.probes.clock_error_ms is
'Its clock minus the venues'' clocks, in milliseconds; null if unknown';
comment on column analytics.probes.clock_error_within_ms is
'Uncertainty of clock_error_ms, plus or minus, in milliseconds';
comment on column analytics.probes.troubles is 'Its own faults that keep it from measuring, [{kind, since, detail}]';
