-- For analysts: what was measured, from raw samples up to days. Each level is a roll-up of the one below, see
-- docs/methodology.md. Percentiles are exact at their level and never combined.

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
'One row per measurement: a component, a region, a slot. Kept for 8 days. Always filter by time (ts), and by venue if '
'you can: there are millions of rows.';
comment on column analytics.samples.ts is 'Scheduled time of the slot, not the instant of measuring';
comment on column analytics.samples.venue is 'Venue id';
comment on column analytics.samples.component is 'rest:NAME, ws:NAME, or ws:conn for the socket';
comment on column analytics.samples.region is 'Region that measured';
comment on column analytics.samples.good is 'False: it has a fault. A slow answer is good';
comment on column analytics.samples.fault is
'dns, connect, tls, timeout, http, blocked, limited, halted, body, handshake, closed, stall or stale; null if good';
comment on column analytics.samples.latency_ms is
'REST: from the first byte sent to the last byte received; ws:conn: time to open; in milliseconds. Null without a '
'complete answer, or if another node than the first answered. Bad samples may have one';
comment on column analytics.samples.dns_ms is 'Name look-up, in milliseconds; null on a kept-alive connection';
comment on column analytics.samples.connect_ms is 'Connecting, in milliseconds; null on a kept-alive connection';
comment on column analytics.samples.tls_ms is 'TLS handshake, in milliseconds; null on a kept-alive connection';
comment on column analytics.samples.first_byte_ms is
'Time until the first byte of the answer was read, in milliseconds';
comment on column analytics.samples.http_status is 'REST: HTTP status of the answer; null if there was none';
comment on column analytics.samples.fresh is
'REST: true if the connection was opened for this request; null for streams';
comment on column analytics.samples.late_ms is
'How long after ts the measurement started, in milliseconds; null: at most 50';
comment on column analytics.samples.head is 'Chain height in the answer; null if the endpoint reports none';
comment on column analytics.samples.messages is 'Streams: data frames in the slot';
comment on column analytics.samples.quiet_ms is 'Streams: longest silence that overlaps the slot, in milliseconds';
comment on column analytics.samples.event_age_ms is
'Age by the venue''s time stamp, in milliseconds: a stream''s newest event on arrival, a REST answer''s data or its '
'newest trade; null without a time stamp';
comment on column analytics.samples.sequence_gaps is
'Streams with numbered frames: how often a number did not follow the one before; null otherwise';
comment on column analytics.samples.certificate_expires_at is
'Expiry of the TLS certificate; null if this slot opened no TLS connection';
comment on column analytics.samples.received_after_s is
'Seconds from the slot until the database had the sample, rounded up: the engine knows the sample from ts plus this';
comment on column analytics.samples.clock_error_ms is
'If head is not null: the probe''s clock minus the venues'' clocks, in milliseconds; null if unknown';
comment on column analytics.samples.clock_error_within_ms is
'Uncertainty of clock_error_ms, plus or minus, in milliseconds';
comment on column analytics.samples.unserved is
'True: the venue prevented the measurement, by a rate limit or because the stream''s socket was down; fault is the '
'cause. Otherwise null';

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
  times_in(m.faults, 'dns') as dns_faults,
  times_in(m.faults, 'connect') as connect_faults,
  times_in(m.faults, 'tls') as tls_faults,
  times_in(m.faults, 'timeout') as timeout_faults,
  times_in(m.faults, 'http') as http_faults,
  times_in(m.faults, 'blocked') as blocked_faults,
  times_in(m.faults, 'limited') as limited_faults,
  times_in(m.faults, 'halted') as halted_faults,
  times_in(m.faults, 'body') as body_faults,
  times_in(m.faults, 'handshake') as handshake_faults,
  times_in(m.faults, 'closed') as closed_faults,
  times_in(m.faults, 'stall') as stall_faults,
  times_in(m.faults, 'stale') as stale_faults
from sample_minute m
left join component c using (component_id)
left join venue v using (venue_id)
left join region g using (region_id);

comment on view analytics.minutes is
'One row per minute of a component seen from a region. Kept for 100 days. No row if nothing was measured. The newest '
'minute is still incomplete.';
comment on column analytics.minutes.minute is 'Start of the minute';
comment on column analytics.minutes.venue is 'Venue id';
comment on column analytics.minutes.component is 'rest:NAME, ws:NAME, or ws:conn for the socket';
comment on column analytics.minutes.region is 'Region that measured';
comment on column analytics.minutes.samples is 'Number of samples';
comment on column analytics.minutes.good is 'Number of good samples';
comment on column analytics.minutes.p50_ms is
'Median latency of good samples, in milliseconds; null if none has a latency';
comment on column analytics.minutes.p95_ms is
'95th percentile of the same, in milliseconds; of a dozen samples a minute that is nearly the slowest';
comment on column analytics.minutes.head is 'Highest chain head reported';
comment on column analytics.minutes.messages is 'Streams: data frames';
comment on column analytics.minutes.quiet_ms is 'Streams: longest silence, in milliseconds';
comment on column analytics.minutes.event_age_ms is 'Greatest event_age_ms of its samples, in milliseconds';
comment on column analytics.minutes.dns_faults is 'Samples whose name look-up failed';
comment on column analytics.minutes.connect_faults is 'Samples whose connection failed';
comment on column analytics.minutes.tls_faults is 'Samples whose TLS handshake failed or whose certificate is invalid';
comment on column analytics.minutes.timeout_faults is 'Samples without a complete answer by the deadline';
comment on column analytics.minutes.http_faults is 'Samples with an unexpected HTTP status';
comment on column analytics.minutes.blocked_faults is 'Samples refused because of where they came from';
comment on column analytics.minutes.limited_faults is 'Samples that were rate-limited';
comment on column analytics.minutes.halted_faults is
'Samples in which the venue said that it does not trade';
comment on column analytics.minutes.body_faults is 'Samples with an unexpected answer';
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
'One row per hour of a component seen from a region. Computed from raw samples, so its percentiles are exact. Kept '
'forever. The newest hour is still incomplete.';
comment on column analytics.hours.hour is 'Start of the hour';
comment on column analytics.hours.venue is 'Venue id';
comment on column analytics.hours.component is 'rest:NAME, ws:NAME, or ws:conn for the socket';
comment on column analytics.hours.region is 'Region that measured';
comment on column analytics.hours.samples is 'Number of samples';
comment on column analytics.hours.good is 'Number of good samples';
comment on column analytics.hours.p50_ms is
'Median latency of good samples, in milliseconds; null if none has a latency';
comment on column analytics.hours.p95_ms is '95th percentile of the same, in milliseconds';

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
'One row per minute of a component, by the votes of the regions that measured it and were not impaired. Kept for 100 '
'days. No row if there was none.';
comment on column analytics.component_minutes.minute is 'Start of the minute';
comment on column analytics.component_minutes.venue is 'Venue id';
comment on column analytics.component_minutes.component is 'rest:NAME, ws:NAME, or ws:conn for the socket';
comment on column analytics.component_minutes.regions is 'Number of regions that measured it and were not impaired';
comment on column analytics.component_minutes.regions_down is
'Number of them in which at least half of the samples failed, other than by `limited`';
comment on column analytics.component_minutes.regions_bad is
'Number of them in which at least a fifth of the samples were bad';
comment on column analytics.component_minutes.measured is
'Whether the minute counts: at least two regions measured it, or the only published one. If false, down and bad are '
'false too and mean nothing';
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
  m.bad,
  m.components_published,
  m.rest_published as rest_components_published
from venue_minute m
left join venue v using (venue_id);

comment on view analytics.venue_minutes is
'One row per minute of a venue, by its components. Kept for 100 days. No row if fewer than half of the published ones '
'were measured: such a minute is neither up nor down.';
comment on column analytics.venue_minutes.minute is 'Start of the minute';
comment on column analytics.venue_minutes.venue is 'Venue id';
comment on column analytics.venue_minutes.components is 'Number of components measured';
comment on column analytics.venue_minutes.components_down is 'Number of them that were down';
comment on column analytics.venue_minutes.components_bad is 'Number of them that were bad';
comment on column analytics.venue_minutes.rest_components is
'Number of measured REST components; the others are streams and the socket';
comment on column analytics.venue_minutes.rest_components_down is 'Number of them that were down';
comment on column analytics.venue_minutes.down is
'True if at least half of the published REST components, or at least half of the published streams, were down';
comment on column analytics.venue_minutes.bad is 'True if any component was bad';
comment on column analytics.venue_minutes.components_published is
'Number of components that the registry published when the minute began, without those that had ended';
comment on column analytics.venue_minutes.rest_components_published is 'Number of REST components among them';

create view analytics.excluded_minutes as
select x.minute, g.region
from excluded_minute x
left join region g using (region_id);

comment on view analytics.excluded_minutes is
'One row per minute that overlaps an impairment of a region which no other region saw. That region''s samples count '
'in no component minute, no venue minute and no day. Kept for 100 days.';
comment on column analytics.excluded_minutes.minute is 'Start of the minute';
comment on column analytics.excluded_minutes.region is 'Impaired region';

create view analytics.component_days as
select
  (d.day at time zone 'UTC')::date as day,
  v.venue,
  c.component,
  d.measured_minutes,
  d.down_minutes,
  d.degraded_minutes,
  api.uptime_pct(d.measured_minutes, d.down_minutes) as uptime_pct,
  coalesce(m.minutes, 0) as maintenance_minutes,
  coalesce(m.measured_minutes, 0) as maintenance_measured_minutes,
  coalesce(m.down_minutes, 0) as maintenance_down_minutes,
  api.uptime_pct(
    d.measured_minutes - coalesce(m.measured_minutes, 0), d.down_minutes - coalesce(m.down_minutes, 0)
  ) as uptime_pct_without_maintenance
from api.component_day d
left join component c using (component_id)
left join venue v using (venue_id)
left join api.maintenance_day m on m.component_id = d.component_id and m.day = d.day;

comment on view analytics.component_days is
'One row per UTC day of a component. Kept forever. No row if no minute was measured. Today is still incomplete.';
comment on column analytics.component_days.day is 'UTC day';
comment on column analytics.component_days.venue is 'Venue id';
comment on column analytics.component_days.component is 'rest:NAME, ws:NAME, or ws:conn for the socket';
comment on column analytics.component_days.measured_minutes is 'Number of measured minutes, at most 1440';
comment on column analytics.component_days.down_minutes is 'Measured minutes that were down';
comment on column analytics.component_days.degraded_minutes is 'Measured minutes that were bad but not down';
comment on column analytics.component_days.uptime_pct is
'Share of measured minutes that were not down, in per cent, however few were measured; truncated to three decimals, '
'never rounded up';
comment on column analytics.component_days.maintenance_minutes is
'Minutes of maintenance that the venue had announced, as many as should have been measured';
comment on column analytics.component_days.maintenance_measured_minutes is 'Measured minutes among them';
comment on column analytics.component_days.maintenance_down_minutes is 'Those of them that were down';
comment on column analytics.component_days.uptime_pct_without_maintenance is
'The same as uptime_pct, over the other measured minutes';

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
  api.uptime_pct(d.measured_minutes, d.down_minutes) as uptime_pct,
  coalesce(m.minutes, 0) as maintenance_minutes,
  coalesce(m.measured_minutes, 0) as maintenance_measured_minutes,
  coalesce(m.down_minutes, 0) as maintenance_down_minutes,
  api.uptime_pct(
    d.measured_minutes - coalesce(m.measured_minutes, 0), d.down_minutes - coalesce(m.down_minutes, 0)
  ) as uptime_pct_without_maintenance
from api.venue_day d
left join venue v using (venue_id)
left join api.maintenance_day m on m.venue_id = d.venue_id and m.day = d.day and m.component_id is null;

comment on view analytics.days is
'One row per UTC day of a venue, as in the bars of the board. Kept forever. No row if no minute was measured. Today '
'is still incomplete.';
comment on column analytics.days.day is 'UTC day';
comment on column analytics.days.venue is 'Venue id';
comment on column analytics.days.measured_minutes is
'Minutes in which at least half of the published components were measured, at most 1440';
comment on column analytics.days.down_minutes is 'Measured minutes that were down';
comment on column analytics.days.degraded_minutes is
'Measured minutes in which some component was bad, but the venue was not down';
comment on column analytics.days.rest_measured_minutes is
'Those in which at least half of the published endpoints were measured';
comment on column analytics.days.rest_down_minutes is
'Measured minutes in which at least half of the published endpoints were down';
comment on column analytics.days.stream_measured_minutes is
'Those in which at least half of the published streams, socket included, were measured';
comment on column analytics.days.stream_down_minutes is
'Measured minutes in which at least half of the published streams, socket included, were down';
comment on column analytics.days.uptime_pct is
'Share of measured minutes that were not down, in per cent, however few were measured; truncated to three decimals, '
'never rounded up';
comment on column analytics.days.maintenance_minutes is
'Minutes of maintenance that the venue had announced, as many as should have been measured';
comment on column analytics.days.maintenance_measured_minutes is 'Measured minutes among them';
comment on column analytics.days.maintenance_down_minutes is 'Those of them that were down';
comment on column analytics.days.uptime_pct_without_maintenance is
'The same as uptime_pct, over the other measured minutes';

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
'How often a minute''s median latency had each value in milliseconds, per UTC day of a component seen from a region. '
'Kept forever. Counts add up where percentiles do not: from them you get the exact median of the minutes of any days, '
'components and regions.';
comment on column analytics.latency_days.day is 'UTC day';
comment on column analytics.latency_days.venue is 'Venue id';
comment on column analytics.latency_days.component is 'rest:NAME, or ws:conn for the time that the socket took to open';
comment on column analytics.latency_days.region is 'Region that measured';
comment on column analytics.latency_days.p50_ms is 'Median of a minute, in whole milliseconds';
comment on column analytics.latency_days.minutes is 'Number of minutes with this median';

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
'Typical latency of an endpoint from a region, which the engine used to recognise slow answers: one row per six '
'hours. Kept for 9 days.';
comment on column analytics.typical_latencies.holds_from is 'Start of the six hours in which it was used';
comment on column analytics.typical_latencies.venue is 'Venue id';
comment on column analytics.typical_latencies.component is 'rest:NAME';
comment on column analytics.typical_latencies.region is 'Region that measured';
comment on column analytics.typical_latencies.p50_ms is
'Typical latency, in milliseconds: the median of hourly medians';
comment on column analytics.typical_latencies.hours is 'Number of hours in that median';
