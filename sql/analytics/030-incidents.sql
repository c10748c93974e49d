-- For analysts: what the engine decided, on what evidence and by which rules, and which alerts were delivered.

create view analytics.incidents as
select
  i.slug,
  i.incident_id,
  v.venue,
  c.component,
  c.kind,
  -- as in the API: a closed incident has its worst severity
  case when i.closed_at is null then i.severity else i.peak_severity end as severity,
  i.peak_severity,
  i.started_at,
  i.opened_at,
  i.escalated_at,
  i.last_bad_at,
  i.closed_at,
  -- as in the API: the hold after last_bad_at is not part of the trouble
  case when i.closed_at is not null then i.last_bad_at end as ended_at,
  case
    when i.closed_at is not null then extract(epoch from i.last_bad_at - i.started_at)::double precision
  end as duration_s,
  i.flapping,
  (i.evidence #>> '{opening,reporting}')::int as reporting,
  coalesce(i.evidence #>> '{opening,counted}', i.evidence #>> '{opening,reporting}')::int as counted,
  (i.evidence #>> '{opening,quorum}')::int as quorum,
  array(
    select vote ->> 'region'
    from jsonb_array_elements(i.evidence #> '{opening,votes}') vote
    where vote ->> 'vote' in ('degraded', 'outage')
  ) as regions,
  i.evidence,
  i.retracted_at,
  i.retraction_reason,
  i.retraction_evidence,
  c.published and v.published as published
from incident i
left join component c using (component_id)
left join venue v using (venue_id);

comment on view analytics.incidents is
'One row per incident. Kept forever. The API shows those that are published and not retracted (retracted_at is null); '
'filter the same way, unless you study our mistakes.';
comment on column analytics.incidents.slug is 'Name in URLs, given at the opening';
comment on column analytics.incidents.incident_id is 'Number, `id` in the API';
comment on column analytics.incidents.venue is 'Venue id';
comment on column analytics.incidents.component is 'rest:NAME, ws:NAME, or ws:conn for the socket';
comment on column analytics.incidents.kind is 'rest or ws';
comment on column analytics.incidents.severity is
'degraded or outage: the current severity while open, afterwards the worst';
comment on column analytics.incidents.peak_severity is 'degraded or outage: the worst so far';
comment on column analytics.incidents.started_at is 'First bad sample of the run that opened it';
comment on column analytics.incidents.opened_at is 'When the engine had enough evidence, and published it';
comment on column analytics.incidents.escalated_at is
'When it became an outage after opening as degraded; null: it did not';
comment on column analytics.incidents.last_bad_at is
'Last bad sample that a quorum confirmed; bad samples during the hold move it';
comment on column analytics.incidents.closed_at is
'When its end was confirmed, one hold after recovery; null while open, and if retracted before closing';
comment on column analytics.incidents.ended_at is 'End of the trouble: last_bad_at, once closed; null while open';
comment on column analytics.incidents.duration_s is
'Seconds from started_at to ended_at, without the hold; null while open';
comment on column analytics.incidents.flapping is
'True: the third of its component within an hour, so a longer hold applied';
comment on column analytics.incidents.reporting is
'Number of regions that reported the component at the opening';
comment on column analytics.incidents.counted is 'Number of those that had a vote';
comment on column analytics.incidents.quorum is 'Number of these that had to agree';
comment on column analytics.incidents.regions is 'Regions that saw it bad at the opening';
comment on column analytics.incidents.evidence is
'{opening, escalation, closing}: each region''s vote, and which were not counted; view votes has it as rows';
comment on column analytics.incidents.retracted_at is 'When the engine or an operator retracted it; null: it stands';
comment on column analytics.incidents.retraction_reason is 'Why it was retracted';
comment on column analytics.incidents.retraction_evidence is
'If the engine retracted it: the votes of the opening, recomputed with late samples; null if an operator did';
comment on column analytics.incidents.published is 'False: its venue or component has left the registry';

create view analytics.votes as
select
  i.slug,
  v.venue,
  c.component,
  d.decision,
  (d.evidence ->> 'at')::timestamptz as at,
  r.voter ->> 'region' as region,
  r.counted,
  case when r.counted then coalesce(r.voter ->> 'vote', 'unknown') end as vote,
  (r.voter ->> 'samples')::int as samples,
  (r.voter ->> 'bad')::int as bad,
  (r.voter ->> 'slow')::int as slow,
  (r.voter ->> 'unserved')::int as unserved,
  (r.voter ->> 'badRun')::int as bad_run,
  -- a JSON null becomes an SQL null
  nullif(r.voter -> 'partial', 'null') as partial,
  r.voter -> 'faults' as faults,
  r.voter ->> 'refusal' as refusal,
  (r.voter ->> 'p50Ms')::double precision as p50_ms,
  (r.voter ->> 'typicalP50Ms')::double precision as typical_p50_ms,
  (r.voter ->> 'newestAt')::timestamptz as newest_at,
  (r.voter ->> 'ageMs')::double precision as age_ms,
  r.voter ->> 'probeVersion' as probe_version,
  r.voter ->> 'machine' as machine,
  r.voter ->> 'reason' as reason
from incident i
left join component c using (component_id)
left join venue v using (venue_id)
cross join lateral (
  values
    ('opening', i.evidence -> 'opening'),
    ('escalation', i.evidence -> 'escalation'),
    ('closing', i.evidence -> 'closing'),
    ('retraction', i.retraction_evidence)
) as d (decision, evidence)
cross join lateral (
  select true as counted, e.voter from jsonb_array_elements(d.evidence -> 'votes') as e (voter)
  union all
  select false, e.voter from jsonb_array_elements(d.evidence -> 'notCounted') as e (voter)
) r;

comment on view analytics.votes is
'The evidence of incidents as rows: one per region and decision, whether counted or not. Kept forever.';
comment on column analytics.votes.slug is 'Slug of the incident';
comment on column analytics.votes.venue is 'Venue id';
comment on column analytics.votes.component is 'rest:NAME, ws:NAME, or ws:conn for the socket';
comment on column analytics.votes.decision is 'opening, escalation, closing, or retraction by the engine';
comment on column analytics.votes.at is 'Instant that was judged; for a retraction, that of the opening';
comment on column analytics.votes.region is 'Region that voted';
comment on column analytics.votes.counted is 'False: the vote was not counted; see reason';
comment on column analytics.votes.vote is
'operational, degraded, outage, or unknown if there were too few samples; null if not counted';
comment on column analytics.votes.samples is 'Number of samples judged';
comment on column analytics.votes.bad is 'Number of samples with a fault';
comment on column analytics.votes.slow is 'Number of good but slow samples';
comment on column analytics.votes.unserved is
'Number of bad samples that the venue prevented; null if not counted';
comment on column analytics.votes.bad_run is 'Length of the run of bad or slow samples up to the newest one';
comment on column analytics.votes.partial is
'If only part of the requests fail: {samples, bad} of the newest minutes; null otherwise';
comment on column analytics.votes.faults is 'Faults among the samples, {fault: samples}';
comment on column analytics.votes.refusal is
'What the venue answered when it refused a stream; null: nothing, or no refusal';
comment on column analytics.votes.p50_ms is 'Median latency of good samples, in milliseconds';
comment on column analytics.votes.typical_p50_ms is
'Typical latency there, in milliseconds; null: unknown, or a stream';
comment on column analytics.votes.newest_at is 'Slot of the newest sample';
comment on column analytics.votes.age_ms is 'Age of that sample, in milliseconds';
comment on column analytics.votes.probe_version is 'Build of the probe that measured';
comment on column analytics.votes.machine is
'Fingerprint of the machine that ran all of the region''s probes; null: several machines, or unknown';
comment on column analytics.votes.reason is 'Why it was not counted; null if it was';

create view analytics.impairments as
select
  g.region,
  p.started_at,
  p.recognised_at,
  p.ended_at,
  p.venues,
  p.measured as measured_venues,
  p.seen_elsewhere,
  case when p.beside is not null then
    array(select b.region from region b where b.region_id = any (p.beside) order by b.position)
  end as recognised_for
from impairment p
join region g using (region_id);

comment on view analytics.impairments is
'One row per impairment of a region: most venues were cut off there at once, and in no other region with a working '
'network. The region had no vote meanwhile. Kept forever.';
comment on column analytics.impairments.region is 'Region id';
comment on column analytics.impairments.started_at is
'In hindsight: the first bad sample, among those it was recognised by, that no other region saw fail';
comment on column analytics.impairments.recognised_at is
'When the engine recognised it and suspended the region''s vote';
comment on column analytics.impairments.ended_at is 'When the region got its vote back; null while it lasts';
comment on column analytics.impairments.venues is 'Venues by which it was recognised';
comment on column analytics.impairments.seen_elsewhere is
'True: it ended because other regions saw the same. Its bad samples were not the region''s fault, and count';
comment on column analytics.impairments.recognised_for is
'Regions of the vantage that it was recognised for; null: the region by itself';
comment on column analytics.impairments.measured_venues is 'Number of venues that the region measured then';

create view analytics.outliers as
select v.venue, c.component, g.region, o.started_at, o.ended_at
from outlier o
join component c using (component_id)
join venue v using (venue_id)
join region g using (region_id);

comment on view analytics.outliers is
'One row per period in which a region was an outlier: it had seen a component bad for long, without a quorum. It had '
'no vote on that component meanwhile. Kept forever.';
comment on column analytics.outliers.venue is 'Venue id';
comment on column analytics.outliers.component is 'rest:NAME, ws:NAME, or ws:conn for the socket';
comment on column analytics.outliers.region is 'Region id';
comment on column analytics.outliers.started_at is 'When it lost its vote on the component';
comment on column analytics.outliers.ended_at is 'When it got it back; null while it lasts';

create view analytics.unjudged as
select v.venue, c.component, u.reason, u.started_at, u.ended_at
from unjudged u
join component c using (component_id)
join venue v using (venue_id);

comment on view analytics.unjudged is
'One row per period in which a component was unknown although it was measured, because its samples said nothing about '
'the venue. Its minutes count in no roll-up of components and venues. Kept forever.';
comment on column analytics.unjudged.venue is 'Venue id';
comment on column analytics.unjudged.component is 'rest:NAME, ws:NAME, or ws:conn for the socket';
comment on column analytics.unjudged.reason is
'never: no region had seen it good by its entry. ended: its entry names an end. blocked: the venue refused one place '
'only';
comment on column analytics.unjudged.started_at is
'When it began; of never: when the component was first watched, or its entry changed';
comment on column analytics.unjudged.ended_at is 'The first instant after it; null while it lasts';

create view analytics.state_changes as
select v.venue, c.component, k.state, k.started_at, k.ended_at, k.recorded_at
from state_change k
join venue v using (venue_id)
left join component c using (component_id);

comment on view analytics.state_changes is
'One row per period in which a venue, or one of its components, had one state without a break. No row: it was not '
'watched, or the engine was away for so long that it never decided that time, which then read unknown. Kept for 400 '
'days after its end.';
comment on column analytics.state_changes.venue is 'Venue id';
comment on column analytics.state_changes.component is
'rest:NAME, ws:NAME, or ws:conn for the socket; null: the venue as a whole';
comment on column analytics.state_changes.state is 'operational, degraded, outage or unknown';
comment on column analytics.state_changes.started_at is
'First instant with that state';
comment on column analytics.state_changes.ended_at is 'First instant without it; null while it lasts';
comment on column analytics.state_changes.recorded_at is
'When it was decided. Much later than started_at: the engine was away and decided it afterwards; meanwhile the API '
'showed an earlier state or, after five minutes, unknown';

create view analytics.region_vantages as
select
  g.region,
  w.machine,
  w.name,
  w.place,
  w.network,
  w.holds_from,
  lead(w.holds_from) over (partition by w.region_id order by w.holds_from) as holds_to
from region_vantage w
join region g using (region_id)
-- no tick has seen it yet
where w.holds_from < 'infinity';

comment on view analytics.region_vantages is
'Where the probes of each region ran, as the engine knew at each instant: one row per period without a change. Regions '
'on one machine are one vantage. No row, or a null machine: the region is a vantage by itself. Kept forever.';
comment on column analytics.region_vantages.region is 'Region id';
comment on column analytics.region_vantages.machine is
'Fingerprint of the machine that ran all of its probes; null: several machines, or unknown';
comment on column analytics.region_vantages.name is
'Name that all of its probes gave in VANTAGE; null: none, or they differed. It decides nothing, nor do place and '
'network';
comment on column analytics.region_vantages.place is 'Place that they gave; null as for name';
comment on column analytics.region_vantages.network is 'Network that they gave; null as for name';
comment on column analytics.region_vantages.holds_from is
'Counts at the instants from here on: just after the instant whose decision was the first to find it reported';
comment on column analytics.region_vantages.holds_to is 'Counts at the instants before this; null: still';

create view analytics.rules_in_force as
select f.holds_from, f.version, f.rules
from rules_in_force f;

comment on view analytics.rules_in_force is
'Rules and build by which the engine decided: for an instant, the newest row that is not after it. Kept forever.';
comment on column analytics.rules_in_force.holds_from is 'Valid from here until the next row';
comment on column analytics.rules_in_force.version is 'Build of core';
comment on column analytics.rules_in_force.rules is
'Numbers of docs/rulebook.md by name, with their units in the names';

create view analytics.alerts as
select
  e.event_id,
  i.slug,
  v.venue,
  c.component,
  l.asset,
  l.network,
  l.venue_network,
  e.direction,
  e.kind,
  e.severity,
  e.at,
  e.recorded_at,
  e.late,
  e.dispatched_at,
  e.dropped_at
from alert_event e
left join incident i using (incident_id)
left join component c using (component_id)
left join transfer_line l using (line_id)
left join venue v on v.venue_id = coalesce(c.venue_id, l.venue_id);

comment on view analytics.alerts is
'One row per alert: an opening, an escalation or a closing of an incident; a pause of deposits or withdrawals, or its '
'end. Kept for 90 days, and while its incident or pause lasts; late openings forever.';
comment on column analytics.alerts.event_id is 'Number, `eventId` in alerts';
comment on column analytics.alerts.slug is 'Slug of the incident; null: it is about deposits or withdrawals';
comment on column analytics.alerts.venue is 'Venue id';
comment on column analytics.alerts.component is 'rest:NAME, ws:NAME, or ws:conn for the socket; null as for slug';
comment on column analytics.alerts.asset is
'Symbol of the asset; null, like the three after it, where it is about an incident';
comment on column analytics.alerts.network is 'Id of the network; null: unknown, or the venue says it by asset alone';
comment on column analytics.alerts.venue_network is 'The network as the venue spells it';
comment on column analytics.alerts.direction is 'deposit or withdrawal';
comment on column analytics.alerts.kind is
'opened, escalated, closed, transfer_paused, transfer_resumed or transfer_unknown';
comment on column analytics.alerts.severity is
'degraded or outage: the severity at an opening or escalation, the worst at a closing; null as for slug';
comment on column analytics.alerts.at is 'Instant that was decided';
comment on column analytics.alerts.recorded_at is 'When it was recorded';
comment on column analytics.alerts.late is 'True: the engine had been away and decided this instant much later';
comment on column analytics.alerts.dispatched_at is
'When deliveries were created for the channels concerned; null: not yet';
comment on column analytics.alerts.dropped_at is
'When it was dropped, because its incident was retracted before it was sent';

create view analytics.deliveries as
select
  d.delivery_id,
  d.channel_id,
  h.format,
  d.event_id,
  i.slug,
  v.venue,
  c.component,
  e.kind,
  d.cause,
  d.state,
  d.reason,
  d.created_at,
  d.first_claimed_at,
  d.ended_at,
  d.failures,
  (select count(*) from delivery_attempt a where a.delivery_id = d.delivery_id)::int as attempts,
  d.told_after_ms,
  i.retracted_at
from delivery d
left join channel h using (channel_id)
left join alert_event e using (event_id)
left join incident i using (incident_id)
left join component c using (component_id)
left join transfer_line l using (line_id)
left join venue v on v.venue_id = coalesce(c.venue_id, l.venue_id);

comment on view analytics.deliveries is
'One row per alert and channel. Destinations and receivers'' answers are not shown to analysts. Kept as long as the '
'alerts.';
comment on column analytics.deliveries.delivery_id is 'Number, as `venuewatch delivery` shows it';
comment on column analytics.deliveries.channel_id is 'Channel number';
comment on column analytics.deliveries.format is 'native, chat or paging';
comment on column analytics.deliveries.event_id is 'Number of the alert; null: a test';
comment on column analytics.deliveries.slug is 'Slug of the incident; null: a test, or about deposits or withdrawals';
comment on column analytics.deliveries.venue is 'Venue id; null: a test';
comment on column analytics.deliveries.component is 'rest:NAME, ws:NAME, or ws:conn for the socket; null as for slug';
comment on column analytics.deliveries.kind is
'opened, escalated, closed, transfer_paused, transfer_resumed or transfer_unknown; null: a test';
comment on column analytics.deliveries.cause is
'event: it happened; open: the channel asked for open incidents and pauses when it was added or switched on again; '
'replay, test: an operator asked';
comment on column analytics.deliveries.state is 'due, delivered, failed, skipped or dropped';
comment on column analytics.deliveries.reason is 'Why it was skipped or dropped; null otherwise';
comment on column analytics.deliveries.created_at is 'When it was queued';
comment on column analytics.deliveries.first_claimed_at is
'When a dispatcher first claimed it for sending; null: never';
comment on column analytics.deliveries.ended_at is
'When it was settled; if delivered, when the receiver answered; null while due';
comment on column analytics.deliveries.failures is 'Number of attempts that failed at the receiver';
comment on column analytics.deliveries.attempts is 'Number of attempts, including those that were started but not sent';
comment on column analytics.deliveries.told_after_ms is
'From the incident''s first bad sample to the receiver''s answer, in milliseconds; null if it does not count for '
'/v1/notify, see docs/methodology.md';
comment on column analytics.deliveries.retracted_at is
'When its incident was retracted, which excludes it from /v1/notify; null: it stands';
