-- A venue's minute is measured if at least half of its published components were, and down if at least half of its
-- published REST, or of its streams, was. So the roll-ups of venues are made again by upkeep, from the minutes of each
-- region, as 017 says.

-- How many components the registry published of a venue, and when; without those that have ended by their entry, also
-- in the future. A minute goes by what held when it began (upkeep.keep_components_published).
create table components_published (
  venue_id   smallint not null references venue,
  holds_from timestamptz not null,
  holds_to   timestamptz not null,
  rest       integer not null,
  -- and the socket
  streams    integer not null,
  primary key (venue_id, holds_from)
);

-- Until a day is made again, its figures are those of before; of the present day, those of its hours that are over.
delete from venue_day_former where day >= (select time_bucket('1 day', made_from + interval '1 day' - interval '1 microsecond') from rollups_made);
insert into venue_day_former (
  day, venue_id, measured_minutes, down_minutes, degraded_minutes, half_hour_squares, three_hour_squares,
  rest_minutes, rest_down_minutes, rest_half_hour_squares, rest_three_hour_squares,
  stream_minutes, stream_down_minutes, stream_half_hour_squares, stream_three_hour_squares
)
select
  d.day, d.venue_id, d.measured_minutes, d.down_minutes, d.degraded_minutes, d.half_hour_squares, d.three_hour_squares,
  d.rest_minutes, d.rest_down_minutes, d.rest_half_hour_squares, d.rest_three_hour_squares,
  d.stream_minutes, d.stream_down_minutes, d.stream_half_hour_squares, d.stream_three_hour_squares
from venue_day d, rollups_made m
where d.day >= time_bucket('1 day', m.made_from + interval '1 day' - interval '1 microsecond') and d.day < m.days_to
union all
select
  time_bucket('1 day', h.hour), h.venue_id, sum(h.measured_minutes), sum(h.down_minutes), sum(h.degraded_minutes),
  sum(h.half_hour_squares), least(180, sum(h.measured_minutes)) * sum(h.measured_minutes),
  sum(h.rest_minutes), sum(h.rest_down_minutes), sum(h.rest_half_hour_squares), least(180, sum(h.rest_minutes)) * sum(h.rest_minutes),
  sum(h.stream_minutes), sum(h.stream_down_minutes), sum(h.stream_half_hour_squares), least(180, sum(h.stream_minutes)) * sum(h.stream_minutes)
from venue_hour h, rollups_made m
where h.hour >= greatest(time_bucket('1 day', m.made_from + interval '1 day' - interval '1 microsecond'), m.days_to) and h.hour < m.hours_to
group by 1, 2;

delete from component_day_former where day >= (select time_bucket('1 day', made_from + interval '1 day' - interval '1 microsecond') from rollups_made);
insert into component_day_former (
  day, component_id, measured_minutes, down_minutes, degraded_minutes, half_hour_squares, three_hour_squares
)
select d.day, d.component_id, d.measured_minutes, d.down_minutes, d.degraded_minutes, d.half_hour_squares, d.three_hour_squares
from component_day d, rollups_made m
where d.day >= time_bucket('1 day', m.made_from + interval '1 day' - interval '1 microsecond') and d.day < m.days_to
union all
select
  time_bucket('1 day', h.hour), h.component_id, sum(h.measured_minutes), sum(h.down_minutes), sum(h.degraded_minutes),
  sum(h.half_hour_squares), least(180, sum(h.measured_minutes)) * sum(h.measured_minutes)
from component_hour h, rollups_made m
where h.hour >= greatest(time_bucket('1 day', m.made_from + interval '1 day' - interval '1 microsecond'), m.days_to) and h.hour < m.hours_to
group by 1, 2;

update rollups_made
set made_from = date_trunc('hour', now()) + interval '1 hour', complete = false
where exists (select from sample_minute);

create schema making;

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

create index venue_minute_of_venue on making.venue_minute (venue_id, minute desc);

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
  count(*) filter (where rest_components * 2 >= greatest(rest_published, 1))::int as rest_minutes,
  count(*) filter (where rest_down * 2 >= greatest(rest_published, 1))::int as rest_down_minutes,
  coalesce(
    squares(bit_or(minute_of_hour(minute)) filter (where rest_components * 2 >= greatest(rest_published, 1)), 30), 0
  ) as rest_half_hour_squares,
  count(*) filter (
    where (components - rest_components) * 2 >= greatest(components_published - rest_published, 1)
  )::int as stream_minutes,
  count(*) filter (
    where (components_down - rest_down) * 2 >= greatest(components_published - rest_published, 1)
  )::int as stream_down_minutes,
  coalesce(
    squares(
      bit_or(minute_of_hour(minute)) filter (
        where (components - rest_components) * 2 >= greatest(components_published - rest_published, 1)
      ),
      30
    ),
    0
  ) as stream_half_hour_squares
from making.venue_minute
group by 1, 2
with no data;

create index venue_hour_of_venue on making.venue_hour (venue_id, hour desc);

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
  count(*) filter (where rest_components * 2 >= greatest(rest_published, 1))::int as rest_minutes,
  count(*) filter (where rest_down * 2 >= greatest(rest_published, 1))::int as rest_down_minutes,
  coalesce(
    squares(bit_or(minute_of_day(minute)) filter (where rest_components * 2 >= greatest(rest_published, 1)), 30), 0
  ) as rest_half_hour_squares,
  coalesce(
    squares(bit_or(minute_of_day(minute)) filter (where rest_components * 2 >= greatest(rest_published, 1)), 180), 0
  ) as rest_three_hour_squares,
  count(*) filter (
    where (components - rest_components) * 2 >= greatest(components_published - rest_published, 1)
  )::int as stream_minutes,
  count(*) filter (
    where (components_down - rest_down) * 2 >= greatest(components_published - rest_published, 1)
  )::int as stream_down_minutes,
  coalesce(
    squares(
      bit_or(minute_of_day(minute)) filter (
        where (components - rest_components) * 2 >= greatest(components_published - rest_published, 1)
      ),
      30
    ),
    0
  ) as stream_half_hour_squares,
  coalesce(
    squares(
      bit_or(minute_of_day(minute)) filter (
        where (components - rest_components) * 2 >= greatest(components_published - rest_published, 1)
      ),
      180
    ),
    0
  ) as stream_three_hour_squares
from making.venue_minute
group by 1, 2
with no data;

create index venue_day_of_venue on making.venue_day (venue_id, day desc);

alter materialized view making.venue_minute set (timescaledb.compress, timescaledb.compress_segmentby = 'venue_id');

-- From here on others wait, so nothing that takes long comes after this. Readers of what is replaced go on until the
-- views are made again; then it is dropped (drop-former-rollups.sql). Its own schema: 017 may have filled the other one
-- in the same migration.
create schema venuewatch_former_venues;
alter materialized view venue_day set schema venuewatch_former_venues;
alter materialized view venue_hour set schema venuewatch_former_venues;
alter materialized view venue_minute set schema venuewatch_former_venues;
alter materialized view making.venue_minute set schema venuewatch;
alter materialized view making.venue_hour set schema venuewatch;
alter materialized view making.venue_day set schema venuewatch;
drop schema making;
