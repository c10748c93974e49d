-- Continuous aggregates from sample upwards. A percentile is exact at its level, because it is computed from raw
-- samples there; percentiles are never combined. Core refreshes them in order (rollups/050-refresh.sql), so they are
-- materialized only: a reader pays nothing for freshness, and sees the same on both kinds of database.
--
-- Chunks are of a size that a reader of ninety days plans few of them (0.3 ms each), and short where they are
-- compressed, which happens once they are over. TimescaleDB makes an index on the time itself, descending, for each.

-- How often a fault is in a list of faults; null: an empty list.
create function times_in(faults fault[], fault fault) returns integer language sql immutable parallel safe
return coalesce(cardinality(array_positions(faults, fault)), 0);

-- One minute of one component seen from one region.
create materialized view sample_minute
with (
  timescaledb.continuous,
  timescaledb.materialized_only = true,
  timescaledb.create_group_indexes = false,
  timescaledb.chunk_interval = '1 day'
) as
select
  time_bucket('1 minute', ts) as minute,
  component_id,
  region_id,
  count(*)::int as samples,
  count(*) filter (where good)::int as good,
  -- latency of good answers: a quick refusal must not make a venue look fast
  round(percentile_cont(0.5) within group (order by latency_us) filter (where good))::int as p50_us,
  round(percentile_cont(0.95) within group (order by latency_us) filter (where good))::int as p95_us,
  max(head) as head,
  sum(messages)::int as messages,
  max(quiet_ms) as quiet_ms,
  max(event_age_ms) as event_age_ms,
  -- of each bad sample; null: none was bad
  array_agg(fault order by fault) filter (where fault is not null) as faults
from sample
group by 1, 2, 3
with no data;

create index sample_minute_by_series on sample_minute (component_id, region_id, minute desc);

-- One hour of one component seen from one region: from raw, so that its percentiles are exact too. Chunks of ten days:
-- an hour of a series takes 125 bytes with its indexes, and 5 compressed.
create materialized view sample_hour
with (
  timescaledb.continuous,
  timescaledb.materialized_only = true,
  timescaledb.create_group_indexes = false,
  timescaledb.chunk_interval = '10 days'
) as
select
  time_bucket('1 hour', ts) as hour,
  component_id,
  region_id,
  count(*)::int as samples,
  count(*) filter (where good)::int as good,
  round(percentile_cont(0.5) within group (order by latency_us) filter (where good))::int as p50_us,
  round(percentile_cont(0.95) within group (order by latency_us) filter (where good))::int as p95_us
from sample
group by 1, 2, 3
with no data;

create index sample_hour_by_series on sample_hour (component_id, region_id, hour desc);

-- The three roll-ups that a venue's page of seven days is read from: sorting a week of raw samples for its percentiles
-- takes half a second. They hold hours that are over, and as long as raw samples are kept.

-- One hour of a venue's REST endpoints together, seen from one region. Exact, as it is from raw, and not rounded, since
-- milliseconds are made of it.
create materialized view rest_hour
with (
  timescaledb.continuous,
  timescaledb.materialized_only = true,
  timescaledb.create_group_indexes = false,
  timescaledb.chunk_interval = '1 day'
) as
select
  time_bucket('1 hour', ts) as hour,
  venue_id,
  region_id,
  count(*)::int as samples,
  percentile_cont(0.5) within group (order by latency_us) as p50_us,
  percentile_cont(0.95) within group (order by latency_us) as p95_us
from sample
join component using (component_id)
where kind = 'rest' and good
group by 1, 2, 3
with no data;

create index rest_hour_by_venue on rest_hour (venue_id, region_id, hour desc);

-- One hour of one stream seen from one region.
create materialized view stream_hour
with (
  timescaledb.continuous,
  timescaledb.materialized_only = true,
  timescaledb.create_group_indexes = false,
  timescaledb.chunk_interval = '1 day'
) as
select
  time_bucket('1 hour', ts) as hour,
  component_id,
  region_id,
  count(*)::int as samples,
  count(*) filter (where good)::int as good,
  sum(messages) as messages,
  max(quiet_ms) as quiet_ms,
  sum(sequence_gaps) as sequence_gaps
from sample
join component using (component_id)
where kind = 'ws'
group by 1, 2, 3
with no data;

create index stream_hour_by_series on stream_hour (component_id, region_id, hour desc);

-- How many good REST answers of an hour took so many whole milliseconds, and the least and the most of these in
-- microseconds. Counts add up over hours where percentiles do not, so a percentile of any hours is exact to the whole
-- millisecond that is shown: what lies between two samples of one millisecond is that millisecond, and of two
-- neighbouring ones the most of the one and the least of the other are the samples themselves.
create materialized view latency_hour
with (
  timescaledb.continuous,
  timescaledb.materialized_only = true,
  timescaledb.create_group_indexes = false,
  timescaledb.chunk_interval = '1 day'
) as
select
  time_bucket('1 hour', ts) as hour,
  component_id,
  region_id,
  -- as api.whole_ms rounds
  round(latency_us / 1000::double precision)::int as ms,
  count(*)::int as samples,
  min(latency_us) as least_us,
  max(latency_us) as most_us
from sample
join component using (component_id)
where kind = 'rest' and good and latency_us is not null
group by 1, 2, 3, 4
with no data;

create index latency_hour_by_series on latency_hour (component_id, region_id, hour desc);

-- Up to when all hours of the three exist: a page reads them up to then, and raw samples after it. There is at most one
-- row.
create table hours_kept (
  only_row boolean primary key default true check (only_row),
  kept_to  timestamptz not null
);

-- Minutes of a region that touch an impairment of it: its own trouble counts for no venue. Upkeep writes them, in
-- hindsight too.
create table excluded_minute (
  region_id smallint not null references region,
  minute    timestamptz not null,
  -- the roll-ups were computed again without this minute
  applied   boolean not null default false,
  primary key (region_id, minute)
);

create index excluded_minute_new on excluded_minute (minute) where not applied;

-- One minute of one component, by the votes of the regions that measured it and were not impaired. A region votes down
-- when at least half of its samples failed by more than a limit of our requests, as the engine says outage, and bad
-- when at least a fifth failed. Minutes in which the samples say nothing about the venue are left out.
create materialized view component_minute
with (
  timescaledb.continuous,
  timescaledb.materialized_only = true,
  timescaledb.create_group_indexes = false,
  timescaledb.chunk_interval = '1 day'
) as
select
  time_bucket('1 minute', m.minute) as minute,
  m.component_id,
  count(*)::int as regions,
  count(*) filter (where (m.samples - m.good - times_in(m.faults, 'limited')) * 2 >= m.samples)::int as regions_down,
  count(*) filter (where (m.samples - m.good) * 5 >= m.samples)::int as regions_bad,
  -- by as many regions as a quorum has at the least: one alone confirms nothing where others are published
  count(*) >= least(2, max(p.regions)) as measured,
  count(*) >= least(2, max(p.regions))
    and count(*) filter (where (m.samples - m.good - times_in(m.faults, 'limited')) * 2 >= m.samples) * 2 > count(*)
    as down,
  count(*) >= least(2, max(p.regions))
    and count(*) filter (where (m.samples - m.good) * 5 >= m.samples) * 2 > count(*) as bad
from sample_minute m
join regions_published p on m.minute >= p.holds_from and m.minute < p.holds_to
left join excluded_minute e on e.region_id = m.region_id and e.minute = m.minute
left join unjudged u
  on u.component_id = m.component_id
  and u.started_at < m.minute + interval '1 minute'
  and coalesce(u.ended_at, 'infinity') > m.minute
where e.minute is null and u.component_id is null
group by 1, 2
with no data;

create index component_minute_by_component on component_minute (component_id, minute desc);

-- One minute of one venue: measured if at least half of its published components were. It is down if at least half of
-- its published REST is, or of its streams and socket: together they would make a venue with five endpoints well whose
-- socket and all streams are dead. It is bad if any component is.
create materialized view venue_minute
with (
  timescaledb.continuous,
  timescaledb.materialized_only = true,
  timescaledb.create_group_indexes = false,
  timescaledb.chunk_interval = '1 day'
) as
select
  time_bucket('1 minute', m.minute) as minute,
  c.venue_id,
  count(*)::int as components,
  count(*) filter (where m.down)::int as components_down,
  count(*) filter (where m.bad)::int as components_bad,
  max(p.rest + p.streams)::int as components_published,
  count(*) filter (where c.kind = 'rest')::int as rest_components,
  count(*) filter (where c.kind = 'rest' and m.down)::int as rest_down,
  max(p.rest)::int as rest_published,
  -- one at least, where the registry has none of a kind
  count(*) filter (where c.kind = 'rest' and m.down) * 2 >= greatest(max(p.rest), 1)
    or count(*) filter (where c.kind <> 'rest' and m.down) * 2 >= greatest(max(p.streams), 1) as down,
  count(*) filter (where m.bad) > 0 as bad
from component_minute m
join component c on c.component_id = m.component_id
join components_published p on p.venue_id = c.venue_id and m.minute >= p.holds_from and m.minute < p.holds_to
where m.measured
group by 1, 2
having count(*) * 2 >= max(p.rest + p.streams)
with no data;

create index venue_minute_by_venue on venue_minute (venue_id, minute desc);

-- Hours that are over, of days that are not: the day's minutes are too many to be added up for every answer. Kept as
-- long as raw samples.
create materialized view component_hour
with (
  timescaledb.continuous,
  timescaledb.materialized_only = true,
  timescaledb.create_group_indexes = false,
  timescaledb.chunk_interval = '1 day'
) as
select
  time_bucket('1 hour', minute) as hour,
  component_id,
  count(*)::int as measured_minutes,
  count(*) filter (where down)::int as down_minutes,
  count(*) filter (where bad and not down)::int as degraded_minutes
from component_minute
where measured
group by 1, 2
with no data;

create index component_hour_by_component on component_hour (component_id, hour desc);

create materialized view venue_hour
with (
  timescaledb.continuous,
  timescaledb.materialized_only = true,
  timescaledb.create_group_indexes = false,
  timescaledb.chunk_interval = '1 day'
) as
select
  time_bucket('1 hour', minute) as hour,
  venue_id,
  count(*)::int as measured_minutes,
  count(*) filter (where down)::int as down_minutes,
  count(*) filter (where bad and not down)::int as degraded_minutes,
  count(*) filter (where rest_components * 2 >= greatest(rest_published, 1))::int as rest_minutes,
  count(*) filter (where rest_down * 2 >= greatest(rest_published, 1))::int as rest_down_minutes,
  count(*) filter (
    where (components - rest_components) * 2 >= greatest(components_published - rest_published, 1)
  )::int as stream_minutes,
  count(*) filter (
    where (components_down - rest_down) * 2 >= greatest(components_published - rest_published, 1)
  )::int as stream_down_minutes
from venue_minute
group by 1, 2
with no data;

create index venue_hour_by_venue on venue_hour (venue_id, hour desc);

-- One UTC day of one component, and of one venue. A day without a measured minute has no row.
create materialized view component_day
with (
  timescaledb.continuous,
  timescaledb.materialized_only = true,
  timescaledb.create_group_indexes = false,
  timescaledb.chunk_interval = '30 days'
) as
select
  time_bucket('1 day', minute) as day,
  component_id,
  count(*)::int as measured_minutes,
  count(*) filter (where down)::int as down_minutes,
  count(*) filter (where bad and not down)::int as degraded_minutes
from component_minute
where measured
group by 1, 2
with no data;

create index component_day_by_component on component_day (component_id, day desc);

create materialized view venue_day
with (
  timescaledb.continuous,
  timescaledb.materialized_only = true,
  timescaledb.create_group_indexes = false,
  timescaledb.chunk_interval = '1 year'
) as
select
  time_bucket('1 day', minute) as day,
  venue_id,
  count(*)::int as measured_minutes,
  count(*) filter (where down)::int as down_minutes,
  count(*) filter (where bad and not down)::int as degraded_minutes,
  count(*) filter (where rest_components * 2 >= greatest(rest_published, 1))::int as rest_minutes,
  count(*) filter (where rest_down * 2 >= greatest(rest_published, 1))::int as rest_down_minutes,
  count(*) filter (
    where (components - rest_components) * 2 >= greatest(components_published - rest_published, 1)
  )::int as stream_minutes,
  count(*) filter (
    where (components_down - rest_down) * 2 >= greatest(components_published - rest_published, 1)
  )::int as stream_down_minutes
from venue_minute
group by 1, 2
with no data;

create index venue_day_by_venue on venue_day (venue_id, day desc);

-- The minutes of announced maintenance on each UTC day that is over: of a venue (no component) and of each of its
-- components. No row on other days.
create table maintenance_day (
  venue_id         smallint not null references venue,
  component_id     integer references component,
  day              timestamptz not null,
  -- as many should have been measured
  minutes          integer not null,
  measured_minutes integer not null,
  down_minutes     integer not null,
  unique nulls not distinct (day, venue_id, component_id)
);

-- Up to when all hours and all days are added up. What is after that is read from the minutes.
create table added_up (
  -- there is one row
  only_row  boolean primary key default true check (only_row),
  hours_to  timestamptz not null default '-infinity',
  days_to   timestamptz not null default '-infinity',
  -- Days before this one were written as days, such as those of a demonstration, and are never computed from minutes.
  days_from timestamptz not null default '-infinity'
);

insert into added_up default values;

-- How often a minute's median was so many whole milliseconds, by UTC day. Counts add up over days, components and
-- regions where percentiles do not, so a median of per-minute medians over any window is exact. A series has some 25
-- rows a day. Chunks of ten days: shorter ones would cost more in total, since a series has fewer rows in each.
create materialized view latency_day
with (
  timescaledb.continuous,
  timescaledb.materialized_only = true,
  timescaledb.create_group_indexes = false,
  timescaledb.chunk_interval = '10 days'
) as
select
  time_bucket('1 day', minute) as day,
  component_id,
  region_id,
  round(p50_us / 1000::double precision)::int as p50_ms,
  count(*)::int as minutes
from sample_minute
where p50_us is not null
group by 1, 2, 3, 4
with no data;

create index latency_day_by_component on latency_day (component_id, day desc);

-- latency_day of all REST endpoints and regions of a venue together. The board, which reads a week of all venues, has a
-- tenth of the rows to add up.
create materialized view venue_latency_day
with (
  timescaledb.continuous,
  timescaledb.materialized_only = true,
  timescaledb.create_group_indexes = false,
  timescaledb.chunk_interval = '1 year'
) as
select
  time_bucket('1 day', day) as day,
  venue_id,
  p50_ms,
  sum(minutes)::int as minutes
from latency_day
join component using (component_id)
where kind = 'rest'
group by 1, 2, 3
with no data;

create index venue_latency_day_by_venue on venue_latency_day (venue_id, day desc);

-- How often an hour's percentile was so many whole milliseconds, by venue: of all REST endpoints and regions, and of
-- the median and the 95th percentile beside each other (`is_p50`). Counts add up over buckets and venues where
-- percentiles do not, so a median over whole buckets is exact. Five days: with ten, the window's edges, which are read
-- from sample_hour, would cost as much as this saves; with one, there are nearly as many rows as hours. Only hours with
-- ten answers and more: of fewer a 95th percentile is hardly more than the slowest one (api.p95_min_answers).
--
-- A component never changes its venue or its kind (both are of its key), so nothing here goes stale by the registry.
create materialized view usual_hour
with (
  timescaledb.continuous,
  timescaledb.materialized_only = true,
  timescaledb.create_group_indexes = false,
  timescaledb.chunk_interval = '1 year'
) as
select
  time_bucket('5 days', hour) as bucket,
  venue_id,
  is_p50,
  -- as api.whole_ms rounds, which rounds those at the edges of a window
  round(case when is_p50 then p50_us else p95_us end / 1000::double precision)::int as ms,
  count(*)::int as hours
from sample_hour
join component using (component_id)
cross join lateral (values (true), (false)) as percentile (is_p50)
where kind = 'rest' and p50_us is not null and good >= 10
group by 1, 2, 3, 4
with no data;

create index usual_hour_by_venue on usual_hour (venue_id, bucket);

alter materialized view sample_minute set (
  timescaledb.compress, timescaledb.compress_segmentby = 'component_id, region_id'
);
alter materialized view sample_hour set (
  timescaledb.compress, timescaledb.compress_segmentby = 'component_id, region_id'
);
alter materialized view stream_hour set (
  timescaledb.compress, timescaledb.compress_segmentby = 'component_id, region_id',
  timescaledb.compress_orderby = 'hour'
);
alter materialized view latency_hour set (
  timescaledb.compress, timescaledb.compress_segmentby = 'component_id, region_id',
  timescaledb.compress_orderby = 'hour, ms'
);
alter materialized view latency_day set (
  timescaledb.compress, timescaledb.compress_segmentby = 'component_id, region_id',
  timescaledb.compress_orderby = 'day desc, p50_ms'
);
alter materialized view component_minute set (timescaledb.compress, timescaledb.compress_segmentby = 'component_id');
alter materialized view venue_minute set (timescaledb.compress, timescaledb.compress_segmentby = 'venue_id');

-- On the embedded database a whole day of minutes would lie uncompressed for too long, and half a day makes short
-- batches: sixteen hours are 960 rows of the thousand that one batch holds. Chunks of latency_hour have a thousand rows
-- in half a day.
select set_chunk_time_interval(
  format('%I.%I', materialization_hypertable_schema, materialization_hypertable_name)::regclass,
  case when view_name = 'sample_minute' then interval '16 hours' else interval '12 hours' end
)
from timescaledb_information.continuous_aggregates
where view_schema = 'venuewatch' and view_name in ('sample_minute', 'latency_hour') and is_embedded();

-- What is typical of the last seven days, a version for each time that upkeep counted it: of each venue, of each
-- category (no venue) and of all (neither). A reader that shows an instant takes the newest version that existed by
-- then.
create table typical_week (
  -- no instant before this shows it
  holds_from timestamptz not null,
  venue_id   smallint,
  category   text,
  p50_ms     integer,
  -- per-minute medians that it is the median of
  minutes    bigint not null,
  unique nulls not distinct (holds_from, venue_id, category)
);

-- The median of a venue's REST in the current hour, as it stood each time that the hour was rolled up.
create table open_hour (
  hour       timestamptz not null,
  venue_id   smallint not null,
  holds_from timestamptz not null,
  answers    bigint not null,
  p50_us     double precision,
  primary key (hour, venue_id, holds_from)
);

-- A refresh ends its own transactions, so what it changes is noted from within: readers see the rows and the instant
-- that is new with them at once, or neither. upkeep.refresh says from when on it changes them; where somebody else
-- refreshes, nobody knows, and it may be any of them. Minutes that are not published yet (api.clock) change nothing.
-- The lock is the tick's, so that none is published meanwhile.
create function note_refresh() returns trigger
language plpgsql
as $$
declare
  changed_from timestamptz := nullif(current_setting('venuewatch.refreshed_from', true), '')::timestamptz;
begin
  perform from venuewatch.engine_clock for update;
  update venuewatch.engine_clock
  set revision = venuewatch.revision_after(ticked_at, revision, silent_after_ms, ticked_at)
  where changed_from is null or changed_from < public.time_bucket('1 minute', ticked_at) - interval '4 minutes';
  return null;
end;
$$;
