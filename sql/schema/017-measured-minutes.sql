-- Minutes that count: of regions that were not impaired, by as many regions as the quorum asks for, with uptimes of components beside those of
-- venues. What is rolled up by other rules is made again by upkeep, from the minutes of each region, which are kept for a hundred days.
--
-- The roll-ups that are replaced go into a schema of their own, where readers of them go on until the views and functions are made again;
-- then they are dropped (drop-former-rollups.sql).

-- Minutes of a region that touch an impairment of it: its own trouble is booked on nobody. Upkeep writes them, in hindsight too.
create table excluded_minute (
  region_id smallint not null references region,
  minute    timestamptz not null,
  -- what stands on this minute was made again without it
  applied   boolean not null default false,
  primary key (region_id, minute)
);
create index excluded_minute_new on excluded_minute (minute) where not applied;

-- Of minutes that are made again by upkeep, none has to be told apart.
insert into excluded_minute (region_id, minute, applied)
select distinct i.region_id, minute, true
from impairment i
cross join generate_series(date_trunc('minute', i.started_at), coalesce(i.ended_at, i.recognised_at), interval '1 minute') as minute;

-- When a component was unknown although it was measured, because its samples say nothing about the venue: nobody has seen
-- it good by its present entry (never), its entry has ended (ended), or only one vantage is refused (blocked). Written by
-- the engine. Kept like impairments.
create table unjudged (
  component_id integer not null references component,
  started_at   timestamptz not null,
  reason       text not null check (reason in ('never', 'ended', 'blocked')),
  -- null: it still is
  ended_at     timestamptz,
  primary key (component_id, started_at)
);
create index unjudged_open on unjudged (component_id) where ended_at is null;

-- How many regions the registry published, and when. A minute goes by what held when it began.
create table regions_published (
  holds_from timestamptz primary key,
  holds_to   timestamptz not null,
  regions    integer not null
);
insert into regions_published (holds_from, holds_to, regions)
select '-infinity', 'infinity', count(*)
from region
where published
having count(*) > 0;

-- Days whose minutes are not kept, or are not made again yet: as an earlier release counted them. How their minutes lay was not counted then: as far
-- as is known, side by side, of which the least can be concluded.
create table venue_day_former as
select
  day,
  venue_id,
  measured_minutes,
  down_minutes,
  degraded_minutes,
  least(30, measured_minutes) * measured_minutes as half_hour_squares,
  least(180, measured_minutes) * measured_minutes as three_hour_squares,
  0 as rest_minutes,
  0 as rest_down_minutes,
  0 as rest_half_hour_squares,
  0 as rest_three_hour_squares,
  0 as stream_minutes,
  0 as stream_down_minutes,
  0 as stream_half_hour_squares,
  0 as stream_three_hour_squares
from venue_day;
alter table venue_day_former add primary key (venue_id, day);

-- The same of components. Earlier releases did not count them.
create table component_day_former (
  day                timestamptz not null,
  component_id       integer not null,
  measured_minutes   integer not null,
  down_minutes       integer not null,
  degraded_minutes   integer not null,
  half_hour_squares  integer not null,
  three_hour_squares integer not null,
  primary key (component_id, day)
);

-- How the measured minutes of a day lie: the sum, over its stretches of so many minutes, of the square of how many were measured in each. Of as many
-- minutes, those that lie apart tell more of the rest than those side by side (api.uptime_bounds).
create function minute_of_day(minute timestamptz) returns bit language sql immutable parallel safe
return set_bit(repeat('0', 1440)::bit(1440), (extract(epoch from minute at time zone 'UTC')::bigint / 60 % 1440)::int, 1);

create function minute_of_hour(minute timestamptz) returns bit language sql immutable parallel safe
return set_bit(repeat('0', 60)::bit(60), (extract(epoch from minute at time zone 'UTC')::bigint / 60 % 60)::int, 1);

create function squares(minutes bit, width integer) returns integer language sql immutable parallel safe
return (
  select sum(bit_count(substring(minutes from 1 + stretch * width for width)) ^ 2)::int
  from generate_series(0, length(minutes) / width - 1) as stretch
);

create schema making;

-- One minute of one component, by the votes of the regions that measured it and were not impaired. A region votes down when at least half of
-- its samples failed by more than a limit of our requests, as the engine says outage, and bad when at least a fifth failed. Minutes in which
-- the samples say nothing about the venue are left out.
create materialized view making.component_minute
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
  count(*) filter (where (m.samples - m.good - m.limited) * 2 >= m.samples)::int as regions_down,
  count(*) filter (where (m.samples - m.good) * 5 >= m.samples)::int as regions_bad,
  -- by as many regions as a quorum has at the least: one alone confirms nothing where others are published
  count(*) >= least(2, max(p.regions)) as measured,
  count(*) >= least(2, max(p.regions))
    and count(*) filter (where (m.samples - m.good - m.limited) * 2 >= m.samples) * 2 > count(*) as down,
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

create index component_minute_by_component on making.component_minute (component_id, minute desc);

-- One minute of one venue, by its components that were measured: down when at least half of its REST is, or of what is not REST, which is streams and the
-- socket; bad when any is. Together they would make a venue with five endpoints well whose socket and all streams are dead.
create materialized view making.venue_minute
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
  count(*) filter (where c.kind = 'rest')::int as rest_components,
  count(*) filter (where c.kind = 'rest' and m.down)::int as rest_down,
  count(*) filter (where c.kind = 'rest' and m.down) * 2 >= count(*) filter (where c.kind = 'rest') and count(*) filter (where c.kind = 'rest') > 0
    or count(*) filter (where c.kind <> 'rest' and m.down) * 2 >= count(*) filter (where c.kind <> 'rest') and count(*) filter (where c.kind <> 'rest') > 0
    as down,
  count(*) filter (where m.bad) > 0 as bad
from making.component_minute m
join component c on c.component_id = m.component_id
where m.measured
group by 1, 2
with no data;

create index venue_minute_by_venue on making.venue_minute (venue_id, minute desc);

-- Hours that are over, of what is read of a day that is not: its minutes are too many to be added up for every answer. Kept as long as raw samples.
create materialized view making.component_hour
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
  count(*) filter (where bad and not down)::int as degraded_minutes,
  squares(bit_or(minute_of_hour(minute)), 30) as half_hour_squares
from making.component_minute
where measured
group by 1, 2
with no data;

create index component_hour_by_component on making.component_hour (component_id, hour desc);

create materialized view making.venue_hour
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
  squares(bit_or(minute_of_hour(minute)), 30) as half_hour_squares,
  count(*) filter (where rest_components > 0)::int as rest_minutes,
  count(*) filter (where rest_components > 0 and rest_down * 2 >= rest_components)::int as rest_down_minutes,
  coalesce(squares(bit_or(minute_of_hour(minute)) filter (where rest_components > 0), 30), 0) as rest_half_hour_squares,
  count(*) filter (where components > rest_components)::int as stream_minutes,
  count(*) filter (
    where components > rest_components and (components_down - rest_down) * 2 >= components - rest_components
  )::int as stream_down_minutes,
  coalesce(squares(bit_or(minute_of_hour(minute)) filter (where components > rest_components), 30), 0) as stream_half_hour_squares
from making.venue_minute
group by 1, 2
with no data;

create index venue_hour_by_venue on making.venue_hour (venue_id, hour desc);

-- One UTC day of one component, and of one venue. A day without a measured minute has no row.
create materialized view making.component_day
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
  count(*) filter (where bad and not down)::int as degraded_minutes,
  squares(bit_or(minute_of_day(minute)), 30) as half_hour_squares,
  squares(bit_or(minute_of_day(minute)), 180) as three_hour_squares
from making.component_minute
where measured
group by 1, 2
with no data;

create index component_day_by_component on making.component_day (component_id, day desc);

create materialized view making.venue_day
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
  squares(bit_or(minute_of_day(minute)), 30) as half_hour_squares,
  squares(bit_or(minute_of_day(minute)), 180) as three_hour_squares,
  count(*) filter (where rest_components > 0)::int as rest_minutes,
  count(*) filter (where rest_components > 0 and rest_down * 2 >= rest_components)::int as rest_down_minutes,
  coalesce(squares(bit_or(minute_of_day(minute)) filter (where rest_components > 0), 30), 0) as rest_half_hour_squares,
  coalesce(squares(bit_or(minute_of_day(minute)) filter (where rest_components > 0), 180), 0) as rest_three_hour_squares,
  count(*) filter (where components > rest_components)::int as stream_minutes,
  count(*) filter (
    where components > rest_components and (components_down - rest_down) * 2 >= components - rest_components
  )::int as stream_down_minutes,
  coalesce(squares(bit_or(minute_of_day(minute)) filter (where components > rest_components), 30), 0) as stream_half_hour_squares,
  coalesce(squares(bit_or(minute_of_day(minute)) filter (where components > rest_components), 180), 0) as stream_three_hour_squares
from making.venue_minute
group by 1, 2
with no data;

create index venue_day_by_venue on making.venue_day (venue_id, day desc);

-- How often a minute's median was so many whole milliseconds, by UTC day: of a component seen from a region, and of a venue's REST as a whole. A
-- half goes to the even millisecond, as api.whole_ms rounds.
create materialized view making.latency_day
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

create index latency_day_by_component on making.latency_day (component_id, day desc);

create materialized view making.venue_latency_day
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
from making.latency_day
join component using (component_id)
where kind = 'rest'
group by 1, 2, 3
with no data;

create index venue_latency_day_by_venue on making.venue_latency_day (venue_id, day desc);

alter materialized view making.component_minute set (timescaledb.compress, timescaledb.compress_segmentby = 'component_id');
alter materialized view making.venue_minute set (timescaledb.compress, timescaledb.compress_segmentby = 'venue_id');
alter materialized view making.latency_day set (
  timescaledb.compress, timescaledb.compress_segmentby = 'component_id, region_id', timescaledb.compress_orderby = 'day desc, p50_ms'
);

-- How far the roll-ups above are made. One row.
create table rollups_made (
  only_row  boolean primary key default true check (only_row),
  -- From here on they are. Upkeep makes those before it, newest first, until no minute of a region is left.
  made_from timestamptz not null,
  complete  boolean not null,
  -- Up to when all hours and all days are added up. What is after that is read from the minutes.
  hours_to  timestamptz not null default '-infinity',
  days_to   timestamptz not null default '-infinity'
);
insert into rollups_made (made_from, complete)
select case when begun then date_trunc('hour', now()) + interval '1 hour' else '-infinity' end, not begun
from (select exists (select from sample_minute) as begun) history;

-- Days whose minutes are gone cannot be made again: they stay as they were rounded.
do $$
declare
  level record;
begin
  for level in
    select
      n.view_name,
      format('%I.%I', n.materialization_hypertable_schema, n.materialization_hypertable_name) as kept_in
    from timescaledb_information.continuous_aggregates n
    where n.view_schema = 'making' and n.view_name in ('latency_day', 'venue_latency_day')
  loop
    execute format(
      'insert into %1$s select * from venuewatch.%2$I where day < %3$L',
      level.kept_in,
      level.view_name,
      (
        select time_bucket('1 day', min(ch.range_start) + interval '1 day' - interval '1 microsecond')
        from timescaledb_information.continuous_aggregates ca
        join timescaledb_information.chunks ch
          on ch.hypertable_schema = ca.materialization_hypertable_schema and ch.hypertable_name = ca.materialization_hypertable_name
        where ca.view_schema = 'venuewatch' and ca.view_name = 'sample_minute'
      )
    );
  end loop;
end;
$$;

-- From here on others wait, so nothing that takes long comes after this.
create schema venuewatch_former_rollups;
alter materialized view venue_latency_day set schema venuewatch_former_rollups;
alter materialized view latency_day set schema venuewatch_former_rollups;
alter materialized view venue_day set schema venuewatch_former_rollups;
alter materialized view venue_minute set schema venuewatch_former_rollups;
alter materialized view component_minute set schema venuewatch_former_rollups;

alter materialized view making.component_minute set schema venuewatch;
alter materialized view making.venue_minute set schema venuewatch;
alter materialized view making.component_hour set schema venuewatch;
alter materialized view making.venue_hour set schema venuewatch;
alter materialized view making.component_day set schema venuewatch;
alter materialized view making.venue_day set schema venuewatch;
alter materialized view making.latency_day set schema venuewatch;
alter materialized view making.venue_latency_day set schema venuewatch;
drop schema making;

-- Since when it is watched, and when the registry did not name it after that: then it was nobody's to measure.
alter table venue
  add column watched_from timestamptz not null default now(),
  add column unwatched tstzmultirange not null default '{}';
alter table component
  add column watched_from timestamptz not null default now(),
  add column unwatched tstzmultirange not null default '{}';
-- Of what an earlier release watched, the days in which anything was measured are all that is known.
update venue v
set
  watched_from = least(v.watched_from, d.first_day),
  unwatched = case when v.published then v.unwatched else tstzmultirange(tstzrange(least(now(), d.last_day + interval '24 hours'), null)) end
from venue w
left join (
  select venue_id, min(day) as first_day, max(day) as last_day from venue_day_former group by venue_id
) d using (venue_id)
where w.venue_id = v.venue_id;
update component c
set
  watched_from = v.watched_from,
  unwatched = case when c.published then v.unwatched else v.unwatched + tstzmultirange(tstzrange(now(), null)) end
from venue v
where v.venue_id = c.venue_id;
