-- Excludes the minutes of impaired regions, also from higher levels, and also in hindsight: an impairment starts before
-- it is recognised. One hour per call, the oldest first, so that other work can run in between; `more`: whether any are
-- left. A continuing impairment reaches to the newest decided instant.
--
-- Only impairments that turned out to be the region's own (api.own_impairment), at most two minutes after they were
-- recognised. A minute is published four minutes after its end: in time for impairments that started less than two
-- minutes before their recognition. Others are corrected in hindsight.
create procedure upkeep.exclude_next(inout more boolean default false)
language plpgsql
as $$
declare
  hour  timestamptz;
  first timestamptz;
  last  timestamptz;
  level name;
  width interval;
  days_to timestamptz;
begin
  insert into excluded_minute (region_id, minute)
  select distinct i.region_id, minute
  from engine_clock e
  join api.own_impairment i on coalesce(i.ended_at, 'infinity') > e.ticked_at - upkeep.late_window()
  cross join lateral (
    select
      time_bucket('1 minute', greatest(i.started_at, e.ticked_at - upkeep.late_window())) as first,
      coalesce(i.ended_at, e.ticked_at) as last
  ) of_it
  cross join lateral (
    select
      max(x.minute) as newest,
      max(x.minute) - min(x.minute) = (count(*) - 1) * interval '1 minute' and min(x.minute) = of_it.first as whole
    from excluded_minute x
    where x.region_id = i.region_id and x.minute >= of_it.first and x.minute <= of_it.last
  ) there
  -- after the existing ones, ten thousand for a week; if some are missing in between, all of them
  cross join generate_series(
    case when there.whole then there.newest + interval '1 minute' else of_it.first end, of_it.last, interval '1 minute'
  ) as minute
  on conflict do nothing;

  select time_bucket('1 hour', min(x.minute)) into hour from excluded_minute x where not x.applied;
  select min(x.minute), max(x.minute) + interval '1 minute' into first, last
  from excluded_minute x
  where not x.applied and x.minute >= hour and x.minute < hour + interval '1 hour';
  commit;
  if hour is not null then
    foreach level in array array[
      'component_minute', 'venue_minute', 'component_hour', 'venue_hour', 'component_day', 'venue_day'
    ] loop
      width := upkeep.bucket_width(level);
      -- an unfinished hour or day will be added up without them anyway
      if level like '%_minute' or (
        select case
          when level like '%_hour' then time_bucket(width, first) < m.hours_to
          else time_bucket(width, first) < m.days_to
        end
        from added_up m
      ) then
        call upkeep.refresh(
          level, time_bucket(width, first), time_bucket(width, last - interval '1 microsecond') + width, force => true
        );
      end if;
    end loop;
    select least(m.days_to, time_bucket('1 day', last) + interval '1 day') into days_to from added_up m;
    call upkeep.store_maintenance(time_bucket('1 day', first), days_to);
    update excluded_minute x set applied = true
    where not x.applied and x.minute >= first and x.minute < last;
    commit;
  end if;
  more := exists (select from excluded_minute x where not x.applied);
end;
$$;
