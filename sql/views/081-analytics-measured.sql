-- For analysts: what was measured, from raw samples up to days. Each level is a roll-up of the one below it, as
-- docs/methodology.md says; percentiles are exact at their level, and never combined.

create view analytics.samples as
select
  s.ts,
  v.venue,
  c.component,
  g.region,
  s.good,
  s.fault,
  s.latency_us / 1000::double precision as latency_ms,
  s.dns_us / 1000::double precision as dns_ms,
  s.connect_us / 1000::double precision as connect_ms,
  s.tls_us / 1000::double precision as tls_ms,
  s.first_byte_us / 1000::double precision as first_byte_ms,
  s.http_status,
  s.fresh,
  s.late_ms,
  s.head,
  s.messages,
  s.quiet_ms,
  s.event_age_ms,
  s.sequence_gaps,
  s.certificate_expires_at,
  s.received_after_s,
  s.clock_error_ms,
  s.clock_error_within_ms,
  s.unserved
from sample s
left join component c using (component_id)
left join venue v using (venue_id)
left join region g using (region_id);

comment on view analytics.samples is
'One row a measurement: a component, seen from a region, in a slot. Kept for eight days. Always ask of a time (ts), best of a venue, too: there are millions.';
comment on column analytics.samples.ts is 'The slot that was scheduled, not the instant of measuring';
comment on column analytics.samples.venue is 'Id of the venue';
comment on column analytics.samples.component is 'rest:NAME, ws:NAME, or ws:conn for the socket';
comment on column analytics.samples.region is 'From where it was measured';
comment on column analytics.samples.good is 'False: it has a fault. A slow answer is good';
comment on column analytics.samples.fault is
'dns, connect, tls, timeout, http, blocked, limited, body, handshake, closed, stall or stale; null where it is good';
comment on column analytics.samples.latency_ms is
'REST: from the first byte sent to the last byte received, in milliseconds; ws:conn: the time to open. Null without a complete answer. Bad ones may have it, too';
comment on column analytics.samples.dns_ms is 'Name look-up, in milliseconds; null on a connection that was kept';
comment on column analytics.samples.connect_ms is 'Connecting, in milliseconds; null on a connection that was kept';
comment on column analytics.samples.tls_ms is 'TLS handshake, in milliseconds; null on a connection that was kept';
comment on column analytics.samples.first_byte_ms is 'Until the first byte of the answer was read, in milliseconds';
comment on column analytics.samples.http_status is 'REST: status of the answer; null where there was none';
comment on column analytics.samples.fresh is 'REST: whether the connection was opened for this request; null for streams';
comment on column analytics.samples.late_ms is 'How long after its instant the slot had its turn, in milliseconds; null: at most 50';
comment on column analytics.samples.head is 'Height of the chain that the answer named; null where it names none';
comment on column analytics.samples.messages is 'Streams: data frames within the slot';
comment on column analytics.samples.quiet_ms is 'Streams: the longest silence that touches the slot, in milliseconds';
comment on column analytics.samples.event_age_ms is 'Age by the venue''s time stamp, in milliseconds: of a stream''s newest event on arrival, of a REST answer''s data or of its newest trade; null where they bear no time';
comment on column analytics.samples.sequence_gaps is 'Streams that number their frames: how often a number was not the one that follows; null elsewhere';
comment on column analytics.samples.certificate_expires_at is 'Until when the certificate is valid that was shown; null where no TLS connection was opened in this slot';
comment on column analytics.samples.received_after_s is 'Whole seconds, rounded up, from the slot until the database had the sample: the engine knows it from ts plus this on';
comment on column analytics.samples.clock_error_ms is 'Where head is not null: the probe''s clock less that of the venues, in milliseconds; null where that was not known';
comment on column analytics.samples.clock_error_within_ms is 'How far off that may be, either way, in milliseconds';
comment on column analytics.samples.unserved is
'True where the venue prevented the slot: it had told us to wait, or the stream''s socket was down. The fault is what prevented it, nothing was measured. Else null';

create view analytics.minutes as
select
  m.minute,
  v.venue,
  c.component,
  g.region,
  m.samples,
  m.good,
  m.p50_us / 1000::double precision as p50_ms,
  m.p95_us / 1000::double precision as p95_ms,
  m.head,
  m.messages,
  m.quiet_ms,
  m.event_age_ms,
  m.dns as dns_faults,
  m.connect as connect_faults,
  m.tls as tls_faults,
  m.timeout as timeout_faults,
  m.http as http_faults,
  m.blocked as blocked_faults,
  m.limited as limited_faults,
  m.body as body_faults,
  m.handshake as handshake_faults,
  m.closed as closed_faults,
  m.stall as stall_faults,
  -- the roll-up is older than this fault: it is what the others leave of the bad ones
  m.samples - m.good
    - (m.dns + m.connect + m.tls + m.timeout + m.http + m.blocked + m.limited + m.body + m.handshake + m.closed + m.stall) as stale_faults
from sample_minute m
left join component c using (component_id)
left join venue v using (venue_id)
left join region g using (region_id);

comment on view analytics.minutes is
'One row a minute of a component seen from a region. Kept for 100 days. No row where nothing was measured. The newest minute still grows.';
comment on column analytics.minutes.minute is 'When the minute begins';
comment on column analytics.minutes.venue is 'Id of the venue';
comment on column analytics.minutes.component is 'rest:NAME, ws:NAME, or ws:conn for the socket';
comment on column analytics.minutes.region is 'From where it was measured';
comment on column analytics.minutes.samples is 'How many samples there are';
comment on column analytics.minutes.good is 'How many of them are good';
comment on column analytics.minutes.p50_ms is 'Median latency of the good ones, in milliseconds; null where none has a latency';
comment on column analytics.minutes.p95_ms is 'Their 95th percentile, in milliseconds; of the dozen samples of a minute that is nearly the slowest';
comment on column analytics.minutes.head is 'The highest head that was named';
comment on column analytics.minutes.messages is 'Streams: data frames';
comment on column analytics.minutes.quiet_ms is 'Streams: the longest silence, in milliseconds';
comment on column analytics.minutes.event_age_ms is 'The greatest event_age_ms of its samples, in milliseconds';
comment on column analytics.minutes.dns_faults is 'Samples whose name could not be looked up';
comment on column analytics.minutes.connect_faults is 'Samples whose connection was not made';
comment on column analytics.minutes.tls_faults is 'Samples whose TLS handshake failed, or whose certificate is not valid';
comment on column analytics.minutes.timeout_faults is 'Samples without a complete answer by the deadline';
comment on column analytics.minutes.http_faults is 'Samples with a status that was not expected';
comment on column analytics.minutes.blocked_faults is 'Samples that were refused for where they came from';
comment on column analytics.minutes.limited_faults is 'Samples that were rationed';
comment on column analytics.minutes.body_faults is 'Samples whose answer was not what it should be';
comment on column analytics.minutes.handshake_faults is 'Samples of sockets and streams that were refused';
comment on column analytics.minutes.closed_faults is 'Samples whose socket was closed';
comment on column analytics.minutes.stall_faults is 'Samples of a stream that was silent for too long';
comment on column analytics.minutes.stale_faults is 'Samples whose data, or whose chain, stood still';

create view analytics.hours as
select
  h.hour,
  v.venue,
  c.component,
  g.region,
  h.samples,
  h.good,
  h.p50_us / 1000::double precision as p50_ms,
  h.p95_us / 1000::double precision as p95_ms
from sample_hour h
left join component c using (component_id)
left join venue v using (venue_id)
left join region g using (region_id);

comment on view analytics.hours is
'One row an hour of a component seen from a region, made of raw samples, so that its percentiles are exact. Kept forever. The newest hour still grows.';
comment on column analytics.hours.hour is 'When the hour begins';
comment on column analytics.hours.venue is 'Id of the venue';
comment on column analytics.hours.component is 'rest:NAME, ws:NAME, or ws:conn for the socket';
comment on column analytics.hours.region is 'From where it was measured';
comment on column analytics.hours.samples is 'How many samples there are';
comment on column analytics.hours.good is 'How many of them are good';
comment on column analytics.hours.p50_ms is 'Median latency of the good ones, in milliseconds; null where none has a latency';
comment on column analytics.hours.p95_ms is 'Their 95th percentile, in milliseconds';

create view analytics.component_minutes as
select
  m.minute,
  v.venue,
  c.component,
  m.regions,
  m.regions_down,
  m.regions_bad,
  m.measured,
  m.down,
  m.bad
from component_minute m
left join component c using (component_id)
left join venue v using (venue_id);

comment on view analytics.component_minutes is
'One row a minute of a component, by the votes of the regions that measured it and were not impaired. Kept for 100 days. No row where there was none.';
comment on column analytics.component_minutes.minute is 'When the minute begins';
comment on column analytics.component_minutes.venue is 'Id of the venue';
comment on column analytics.component_minutes.component is 'rest:NAME, ws:NAME, or ws:conn for the socket';
comment on column analytics.component_minutes.regions is 'How many regions measured it and were not impaired';
comment on column analytics.component_minutes.regions_down is 'In how many of them at least half of the samples were bad';
comment on column analytics.component_minutes.regions_bad is 'In how many of them at least a fifth of the samples were bad';
comment on column analytics.component_minutes.measured is
'Whether it counts: by two regions at least, or by the only one that was published. Where it is false, down and bad are false too, and mean nothing';
comment on column analytics.component_minutes.down is 'Down in more than half of these regions';
comment on column analytics.component_minutes.bad is 'Bad in more than half of these regions';

create view analytics.venue_minutes as
select
  m.minute,
  v.venue,
  m.components,
  m.components_down,
  m.components_bad,
  m.rest_components,
  m.rest_down as rest_components_down,
  m.down,
  m.bad
from venue_minute m
left join venue v using (venue_id);

comment on view analytics.venue_minutes is
'One row a minute of a venue, by its components. Kept for 100 days. No row where none was measured: such a minute is neither up nor down.';
comment on column analytics.venue_minutes.minute is 'When the minute begins';
comment on column analytics.venue_minutes.venue is 'Id of the venue';
comment on column analytics.venue_minutes.components is 'How many of its components were measured';
comment on column analytics.venue_minutes.components_down is 'How many of them were down';
comment on column analytics.venue_minutes.components_bad is 'How many of them were bad';
comment on column analytics.venue_minutes.rest_components is 'How many of the measured ones are REST; the others are streams and the socket';
comment on column analytics.venue_minutes.rest_components_down is 'How many of these were down';
comment on column analytics.venue_minutes.down is 'At least half of the measured REST components were down, or at least half of the streams';
comment on column analytics.venue_minutes.bad is 'Some component was bad';

create view analytics.excluded_minutes as
select x.minute, g.region
from excluded_minute x
left join region g using (region_id);

comment on view analytics.excluded_minutes is
'One row a minute of a region that touches an impairment of its own, which others did not see: it counts in no minute of a component, of a venue, and in no day. Kept for 100 days.';
comment on column analytics.excluded_minutes.minute is 'When the minute begins';
comment on column analytics.excluded_minutes.region is 'The region that was impaired';

create view analytics.component_days as
select
  (d.day at time zone 'UTC')::date as day,
  v.venue,
  c.component,
  d.measured_minutes,
  d.down_minutes,
  d.degraded_minutes,
  api.uptime_pct(d.measured_minutes, d.down_minutes) as uptime_pct
from api.component_day d
left join component c using (component_id)
left join venue v using (venue_id);

comment on view analytics.component_days is
'One row a UTC day of a component. Kept forever. A day without a measured minute has no row. Today''s still grows.';
comment on column analytics.component_days.day is 'The UTC day';
comment on column analytics.component_days.venue is 'Id of the venue';
comment on column analytics.component_days.component is 'rest:NAME, ws:NAME, or ws:conn for the socket';
comment on column analytics.component_days.measured_minutes is 'How many of its minutes were measured, 1440 at the most';
comment on column analytics.component_days.down_minutes is 'Measured minutes in which it was down';
comment on column analytics.component_days.degraded_minutes is 'Measured minutes in which it was bad and not down';
comment on column analytics.component_days.uptime_pct is
'Measured minutes that were not down, in per cent of the measured ones, however few; cut after three places and never rounded up';

create view analytics.days as
select
  (d.day at time zone 'UTC')::date as day,
  v.venue,
  d.measured_minutes,
  d.down_minutes,
  d.degraded_minutes,
  d.rest_minutes as rest_measured_minutes,
  d.rest_down_minutes,
  d.stream_minutes as stream_measured_minutes,
  d.stream_down_minutes,
  api.uptime_pct(d.measured_minutes, d.down_minutes) as uptime_pct
from api.venue_day d
left join venue v using (venue_id);

comment on view analytics.days is
'One row a UTC day of a venue, as the bars of the board have it. Kept forever. A day without a measured minute has no row. Today''s still grows.';
comment on column analytics.days.day is 'The UTC day';
comment on column analytics.days.venue is 'Id of the venue';
comment on column analytics.days.measured_minutes is 'In how many minutes some component of it was measured, 1440 at the most';
comment on column analytics.days.down_minutes is 'Measured minutes in which it was down';
comment on column analytics.days.degraded_minutes is 'Measured minutes in which some component was bad, and the venue not down';
comment on column analytics.days.rest_measured_minutes is 'Minutes in which a REST endpoint was measured; 0 in days that an earlier release counted';
comment on column analytics.days.rest_down_minutes is 'Those of them in which at least half of the measured endpoints were down';
comment on column analytics.days.stream_measured_minutes is 'Minutes in which the socket or a stream was measured; 0 in days that an earlier release counted';
comment on column analytics.days.stream_down_minutes is 'Those of them in which at least half of these were down';
comment on column analytics.days.uptime_pct is
'Measured minutes that were not down, in per cent of the measured ones, however few; cut after three places and never rounded up';

create view analytics.latency_days as
select
  (l.day at time zone 'UTC')::date as day,
  v.venue,
  c.component,
  g.region,
  l.p50_ms,
  l.minutes
from latency_day l
left join component c using (component_id)
left join venue v using (venue_id)
left join region g using (region_id);

comment on view analytics.latency_days is
'How often a minute''s median latency was so many milliseconds, by UTC day of a component seen from a region. Kept forever. Counts add up where '
'percentiles do not: the median of the minutes of any days, components and regions is exact from it.';
comment on column analytics.latency_days.day is 'The UTC day';
comment on column analytics.latency_days.venue is 'Id of the venue';
comment on column analytics.latency_days.component is 'rest:NAME, or ws:conn for the time that the socket took to open';
comment on column analytics.latency_days.region is 'From where it was measured';
comment on column analytics.latency_days.p50_ms is 'A minute''s median, in whole milliseconds';
comment on column analytics.latency_days.minutes is 'How many minutes had this median';

create view analytics.typical_latencies as
select
  t.holds_from,
  v.venue,
  c.component,
  g.region,
  t.p50_us / 1000::double precision as p50_ms,
  t.hours
from typical_latency t
left join component c using (component_id)
left join venue v using (venue_id)
left join region g using (region_id);

comment on view analytics.typical_latencies is
'How slow an endpoint usually was from a region, as the engine used it to tell slow answers: each row for six hours. Kept for nine days.';
comment on column analytics.typical_latencies.holds_from is 'From when on it held, for six hours';
comment on column analytics.typical_latencies.venue is 'Id of the venue';
comment on column analytics.typical_latencies.component is 'rest:NAME';
comment on column analytics.typical_latencies.region is 'From where it was measured';
comment on column analytics.typical_latencies.p50_ms is 'What is typical, in milliseconds: the median of hourly medians';
comment on column analytics.typical_latencies.hours is 'How many hours it is the median of';
