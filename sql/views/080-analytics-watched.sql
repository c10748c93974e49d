-- For analysts: what is watched, from where, and by which build. The views of schema analytics are an interface:
-- columns are added, and none is renamed or given another meaning. Their names are the public's, their times are UTC,
-- and units stand in names.
--
-- A view reads with the rights of its owner, so analysts need none on what is below it. What it calls runs with theirs:
-- such functions may only compute, or are `security definer`.
--
-- Names are joined from the left, so that the planner leaves out those joins of which nothing is asked; where a name is
-- asked for, it makes inner joins of them, and enters the index of the samples by the series.

comment on schema analytics is
'What analysts may rely on: docs/analysts.md says how. Times are UTC, units stand in names, null is what nobody measured.';

create view analytics.clock as
select k.generated_at, k.engine_fresh, k.ticked_at
from api.clock k;

comment on view analytics.clock is
'One row: as of when everything is told, by the API and here. Ask of windows that end with generated_at, to get what the API answers.';
comment on column analytics.clock.generated_at is 'The instant of the engine''s newest tick; while the engine is silent, half a minute ago or the last change';
comment on column analytics.clock.engine_fresh is 'False: the engine has been silent for five minutes, and every state reads unknown';
comment on column analytics.clock.ticked_at is 'When the engine decided last; null where it never did';

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
  v.source_id as feed_id,
  v.official_about,
  v.official_not_about
from venue v
left join api.venue s using (venue_id);

comment on view analytics.venues is 'One row a venue of the registry, those that left it included, with the state that it is in now.';
comment on column analytics.venues.venue is 'Its id, as in the API';
comment on column analytics.venues.name is 'Its name, for people';
comment on column analytics.venues.category is 'exchange, rpc, oracle, …, as in the registry';
comment on column analytics.venues.symbol is 'The instrument that is measured; null where there is none';
comment on column analytics.venues.quote is 'The currency in which that instrument is quoted';
comment on column analytics.venues.chain is 'The chain whose head its endpoints name; null where they name none';
comment on column analytics.venues.published is 'False: it left the registry, and the API shows it no more';
comment on column analytics.venues.state is 'operational, degraded, outage or unknown, now; null where it is not published';
comment on column analytics.venues.state_since is 'Since when it is in that state';
comment on column analytics.venues.official_kind is 'What kind of status feed it has, as docs/comparing.md lists them; null: none';
comment on column analytics.venues.official_page is 'The address of its status page for people';
comment on column analytics.venues.feed_id is 'Its feed in feed_readings and feed_entries, which several venues may share; null: none that a program can read';
comment on column analytics.venues.official_about is
'Of a feed that several services share, patterns of `like` for what is about this venue, in small letters; null: all of it is';
comment on column analytics.venues.official_not_about is 'Patterns of `like` for notices about what is not measured, in small letters; null: none';

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
'One row a component: a REST endpoint, a stream, or the socket (ws:conn) of a venue, with the state that it is in now.';
comment on column analytics.components.venue is 'Id of its venue';
comment on column analytics.components.component is 'rest:NAME, ws:NAME, or ws:conn for the socket; unique within a venue only';
comment on column analytics.components.kind is 'rest or ws';
comment on column analytics.components.label is 'What it is, for people';
comment on column analytics.components.target is 'The URL, or the stream, that is measured';
comment on column analytics.components.cadence_ms is 'It is measured once in so many milliseconds, from each region';
comment on column analytics.components.stall_after_ms is 'Streams: a silence that is longer than this is a stall; null elsewhere';
comment on column analytics.components.published is 'False: it left the registry, and the API shows it no more';
comment on column analytics.components.state is 'operational, degraded, outage or unknown, now; null where it is not published';
comment on column analytics.components.state_since is 'Since when it is in that state';

create view analytics.regions as
select g.region, g.name, g.position = 1 as is_primary, g.published
from region g;

comment on view analytics.regions is 'One row a region from which probes measure.';
comment on column analytics.regions.region is 'Its id, as in the API';
comment on column analytics.regions.name is 'Its name, for people';
comment on column analytics.regions.is_primary is 'The region that a venue''s page shows where none is asked for';
comment on column analytics.regions.published is 'False: it left the registry';

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

comment on view analytics.probes is 'One row a probe that is alive; of a region where none is, the one that was alive last.';
comment on column analytics.probes.region is 'From where it measures';
comment on column analytics.probes.version is 'Its build';
comment on column analytics.probes.started_at is 'When it was started';
comment on column analytics.probes.seen_at is 'When it was heard of last';
comment on column analytics.probes.venues is 'How many venues are its own now';
comment on column analytics.probes.unmeasured_slots is 'Slots since its start that it did not measure: through its own trouble, or by courtesy to a venue';
comment on column analytics.probes.unmeasured_slots_by_reason is 'The same by reason, {reason: slots}';
comment on column analytics.probes.clock_error_ms is 'Its clock less that of the venues, in milliseconds; null where that is not known';
comment on column analytics.probes.clock_error_within_ms is 'How far off that may be, either way, in milliseconds';
comment on column analytics.probes.troubles is 'What of its own keeps it from measuring, [{kind, since, detail}]';
