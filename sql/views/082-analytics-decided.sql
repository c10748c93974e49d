-- For analysts: what the engine decided, on what evidence and by which rules, and who was told.

create view analytics.incidents as
select
  i.slug,
  i.incident_id,
  v.venue,
  c.component,
  c.kind,
  -- as the API tells it: one that is over is told by its worst
  case when i.closed_at is null then i.severity else i.peak_severity end as severity,
  i.peak_severity,
  i.started_at,
  i.opened_at,
  i.escalated_at,
  i.last_bad_at,
  i.closed_at,
  -- as the API has both: the hold that follows is none of the venue's trouble
  case when i.closed_at is not null then i.last_bad_at end as ended_at,
  case when i.closed_at is not null then extract(epoch from i.last_bad_at - i.started_at)::double precision end as duration_s,
  i.flapping,
  (i.evidence #>> '{opening,reporting}')::int as reporting,
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
'One row an incident. Kept forever. The API shows those with retracted_at null and published; count by the same, unless you study our mistakes.';
comment on column analytics.incidents.slug is 'Its name in addresses, given at the opening';
comment on column analytics.incidents.incident_id is 'Its number, `id` in the API';
comment on column analytics.incidents.venue is 'Id of the venue';
comment on column analytics.incidents.component is 'rest:NAME, ws:NAME, or ws:conn for the socket';
comment on column analytics.incidents.kind is 'rest or ws';
comment on column analytics.incidents.severity is 'degraded or outage: while it is open what it is now, then the worst that it was';
comment on column analytics.incidents.peak_severity is 'degraded or outage: the worst that it was so far';
comment on column analytics.incidents.started_at is 'The first bad sample of the run that opened it';
comment on column analytics.incidents.opened_at is 'When the engine had the evidence, and told of it';
comment on column analytics.incidents.escalated_at is 'When it became an outage after it had opened as degraded; null: it did not';
comment on column analytics.incidents.last_bad_at is 'The last bad sample that a quorum confirmed; what is bad again within the hold moves it';
comment on column analytics.incidents.closed_at is 'When it was confirmed to be over, a hold after it was well; null while it is open, and of what was retracted before that';
comment on column analytics.incidents.ended_at is 'When the trouble ended: last_bad_at, once it is closed; null while it is open';
comment on column analytics.incidents.duration_s is 'From started_at to ended_at, in seconds, without the hold; null while it is open';
comment on column analytics.incidents.flapping is 'The third of its component within an hour: it had to be well for longer before it closed';
comment on column analytics.incidents.reporting is 'How many regions reported the component at the opening';
comment on column analytics.incidents.quorum is 'How many of those had to agree';
comment on column analytics.incidents.regions is 'Which of them saw it bad at the opening';
comment on column analytics.incidents.evidence is '{opening, escalation, closing}: who voted what then, and who was not counted; view votes has it by rows';
comment on column analytics.incidents.retracted_at is 'When it was taken back, by the engine or an operator; null: it stands';
comment on column analytics.incidents.retraction_reason is 'Why it was taken back';
comment on column analytics.incidents.retraction_evidence is 'Retracted by the engine: the votes of the opening, judged again with what came late; null where an operator did it';
comment on column analytics.incidents.published is 'False: its venue or component left the registry';

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
  -- JSON's null is none
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
'The evidence of the incidents by rows: one for each region at each decision, whether it was counted or not. Kept forever.';
comment on column analytics.votes.slug is 'The incident';
comment on column analytics.votes.venue is 'Id of the venue';
comment on column analytics.votes.component is 'rest:NAME, ws:NAME, or ws:conn for the socket';
comment on column analytics.votes.decision is 'opening, escalation, closing, or retraction by the engine';
comment on column analytics.votes.at is 'The instant that was judged; of a retraction that of the opening';
comment on column analytics.votes.region is 'Who voted';
comment on column analytics.votes.counted is 'False: its word was not taken, and reason says why';
comment on column analytics.votes.vote is 'operational, degraded, outage, or unknown with too few samples; null where it was not counted';
comment on column analytics.votes.samples is 'How many samples it judged by';
comment on column analytics.votes.bad is 'How many of them had a fault';
comment on column analytics.votes.slow is 'How many of them were good and slow';
comment on column analytics.votes.unserved is 'How many of the bad ones the venue had prevented; null where it was not counted, and in evidence of earlier releases';
comment on column analytics.votes.bad_run is 'How many bad or slow ones in a row there were, up to the newest';
comment on column analytics.votes.partial is
'{samples, bad} of the newest minutes, where they fail in part; null where they do not, and in evidence of earlier releases';
comment on column analytics.votes.faults is 'The faults among them, {fault: samples}';
comment on column analytics.votes.refusal is 'What the venue said when it refused a stream; null: nothing, or it did not refuse';
comment on column analytics.votes.p50_ms is 'Median latency of the good ones, in milliseconds';
comment on column analytics.votes.typical_p50_ms is 'What was typical there, in milliseconds; null: not known, or a stream';
comment on column analytics.votes.newest_at is 'Slot of the newest sample';
comment on column analytics.votes.age_ms is 'How old that was, in milliseconds';
comment on column analytics.votes.probe_version is 'Build of the probe that measured';
comment on column analytics.votes.machine is 'Fingerprint of the one machine that the region''s probes ran on; null: several, or not known';
comment on column analytics.votes.reason is 'Why it was not counted; null where it was';

create view analytics.impairments as
select
  g.region,
  p.started_at,
  p.recognised_at,
  p.ended_at,
  p.venues,
  p.measured as measured_venues,
  p.seen_elsewhere
from impairment p
join region g using (region_id);

comment on view analytics.impairments is
'One row for each time that a region had trouble of its own: most venues turned bad there at once, and in no other region whose own network worked. Meanwhile it had no vote. Kept forever.';
comment on column analytics.impairments.region is 'The region';
comment on column analytics.impairments.started_at is 'In hindsight: the first bad sample of what it was recognised by and nobody else saw fail';
comment on column analytics.impairments.recognised_at is 'When the engine saw it, and took its vote';
comment on column analytics.impairments.ended_at is 'When it had its vote again; null while it lasts';
comment on column analytics.impairments.venues is 'The venues it was recognised by';
comment on column analytics.impairments.seen_elsewhere is
'It ended since others saw the same: what was bad meanwhile was no trouble of its own, and counts';
comment on column analytics.impairments.measured_venues is 'How many venues the region measured then';

create view analytics.outliers as
select v.venue, c.component, g.region, o.started_at, o.ended_at
from outlier o
join component c using (component_id)
join venue v using (venue_id)
join region g using (region_id);

comment on view analytics.outliers is
'One row for each time that a region had seen a component bad for long, and no quorum with it. Meanwhile it had no vote on this component. Kept forever.';
comment on column analytics.outliers.venue is 'The venue';
comment on column analytics.outliers.component is 'The component';
comment on column analytics.outliers.region is 'The region';
comment on column analytics.outliers.started_at is 'When it lost its vote';
comment on column analytics.outliers.ended_at is 'When it had it again; null while it lasts';

create view analytics.rules_in_force as
select f.holds_from, f.version, f.rules
from rules_in_force f;

comment on view analytics.rules_in_force is
'By which rules and which build the engine decided: the newest row that is not after an instant held then. Kept forever.';
comment on column analytics.rules_in_force.holds_from is 'From when on, until the next row';
comment on column analytics.rules_in_force.version is 'Build of core';
comment on column analytics.rules_in_force.rules is 'The numbers of docs/rulebook.md by their names, units among these';

create view analytics.alerts as
select
  e.event_id,
  i.slug,
  v.venue,
  c.component,
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
left join venue v using (venue_id);

comment on view analytics.alerts is
'What there was to tell: one row for an opening, an escalation, or a closing. Kept for 90 days, and while its incident is open; late openings forever.';
comment on column analytics.alerts.event_id is 'Its number, `eventId` in alerts';
comment on column analytics.alerts.slug is 'The incident';
comment on column analytics.alerts.venue is 'Id of the venue';
comment on column analytics.alerts.component is 'rest:NAME, ws:NAME, or ws:conn for the socket';
comment on column analytics.alerts.kind is 'opened, escalated or closed';
comment on column analytics.alerts.severity is 'degraded or outage: of an opening or an escalation what it was then, of a closing the worst';
comment on column analytics.alerts.at is 'The instant that was decided';
comment on column analytics.alerts.recorded_at is 'When that was recorded';
comment on column analytics.alerts.late is 'True: the engine had been away, and came to this instant much later';
comment on column analytics.alerts.dispatched_at is 'When a delivery was made for each channel that it concerned; null: not yet';
comment on column analytics.alerts.dropped_at is 'When it was dropped, since its incident was retracted before it had left';

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
left join venue v using (venue_id);

comment on view analytics.deliveries is
'What became of alerts: one row for an alert and a channel that it was for. Where channels go to and what receivers answered is not for analysts. Kept as the alerts are.';
comment on column analytics.deliveries.delivery_id is 'Its number, as venuewatch delivery shows it';
comment on column analytics.deliveries.channel_id is 'Number of the channel';
comment on column analytics.deliveries.format is 'native, chat or paging';
comment on column analytics.deliveries.event_id is 'The alert; null: a test';
comment on column analytics.deliveries.slug is 'The incident; null: a test';
comment on column analytics.deliveries.venue is 'Id of the venue; null: a test';
comment on column analytics.deliveries.component is 'Its component; null: a test';
comment on column analytics.deliveries.kind is 'opened, escalated or closed; null: a test';
comment on column analytics.deliveries.cause is
'event: it happened; open: the channel asked for what was open when it began or was switched on again; replay, test: an operator asked';
comment on column analytics.deliveries.state is 'due, delivered, failed, skipped or dropped';
comment on column analytics.deliveries.reason is 'Why it was skipped or dropped; null otherwise';
comment on column analytics.deliveries.created_at is 'When it was put in line';
comment on column analytics.deliveries.first_claimed_at is 'When it was first taken to be sent; null: never';
comment on column analytics.deliveries.ended_at is 'When it was settled; delivered: when the receiver had answered; null while it is due';
comment on column analytics.deliveries.failures is 'Attempts that the receiver failed';
comment on column analytics.deliveries.attempts is 'How often it was sent, or was to be';
comment on column analytics.deliveries.told_after_ms is
'From the incident''s first bad sample to the receiver''s answer, in milliseconds; null where it does not count for /v1/notify, as docs/methodology.md says';
comment on column analytics.deliveries.retracted_at is 'When its incident was retracted: /v1/notify leaves such out; null: it stands';
