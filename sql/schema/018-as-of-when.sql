-- What makes every answer a function of the instant that it shows, also while samples and upkeep go on between two ticks of the engine.
--
-- What is replaced goes where 017 has put what it replaced, and is dropped with that: views of before go on until they are made again.
create schema if not exists venuewatch_former_rollups;

-- What is typical of the last seven days, a version for each time that upkeep counted it: of each venue, of each category (no venue) and of all
-- (neither). A reader that shows an instant takes the newest version that was there by then. Upkeep counts it again; nothing is lost here.
alter table typical_week set schema venuewatch_former_rollups;
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

-- The same of the hours that run: the median of a venue's REST, as it stood each time that the hour was rolled up.
create table open_hour (
  hour       timestamptz not null,
  venue_id   smallint not null,
  holds_from timestamptz not null,
  answers    bigint not null,
  p50_us     double precision,
  primary key (hour, venue_id, holds_from)
);

-- The probes as ticks found them: they overwrite their own rows at any time. Of each the newest sign of life that came before the tick, and those after
-- it, which later ticks show. As JSON, so that a column that table probe gets later comes along.
create table shown_probe (
  region_id smallint not null,
  process   uuid not null,
  -- in whole milliseconds, as it is shown; no instant before this shows it
  seen_at   timestamptz not null,
  probe     jsonb not null,
  venues    integer not null,
  primary key (region_id, process, seen_at)
);

-- As in 008, but of hours with ten answers and more: of fewer a 95th percentile is hardly more than the slowest one
-- (api.p95_min_answers). Both percentiles are of the same hours. Its counts are added up from sample_hour, which is kept forever.
alter materialized view usual_hour set schema venuewatch_former_rollups;
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

-- By how many milliseconds is what a change or a tick publishes later than the tick's instant (api.clock)? `at` is when that is made, while the clock's row
-- is locked, and `next_at` the instant of the tick that is in force from then on. By none, as nearly always with a tick. But no published instant is ever
-- before another one, nor given twice: what was changed since the last tick may have moved that far on, and an engine that was silent catches up on
-- times of which its silence was published.
--
-- Silence is shown by a time that runs on until the commit. So what is made in it begins after an instant that silence shows half a minute later at the
-- earliest: ticks take milliseconds, and whatever takes long locks the clock last. An engine that falls silent in that half minute is silent already.
create function revision_after(
  ticked_at timestamptz,
  revision bigint,
  silent_after_ms integer,
  next_at timestamptz,
  at timestamptz default clock_timestamp()
) returns bigint
language sql stable
return greatest(
  0,
  1 + ceil(1000 * extract(epoch from case
    when ticked_at > at - silent_after_ms * interval '1 millisecond' + interval '30 seconds' then ticked_at + revision * interval '1 millisecond'
    else greatest(ticked_at + revision * interval '1 millisecond', date_bin('10 seconds', at - interval '2 seconds', 'epoch'))
  end - next_at))
)::bigint;

-- A refresh ends its own transactions, so what it changes is noted from within: readers see the rows and the instant that is new with them at once, or
-- neither. upkeep.refresh says from when on it changes them; where somebody else refreshes, nobody knows, and it may be any of them. Minutes that are
-- not published yet (api.clock) change nothing. The lock is the tick's, so that none is published meanwhile.
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
