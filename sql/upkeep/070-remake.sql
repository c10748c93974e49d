-- Roll-ups that a schema file replaced, and that are rebuilt from the minutes of each region.
create function upkeep.remade() returns text[] language sql immutable
return array[
  'component_minute', 'venue_minute', 'component_hour', 'venue_hour', 'component_day', 'venue_day', 'latency_day',
  'venue_latency_day'
];

-- The start of the rebuilt days. Earlier days are as an earlier release counted them.
create function upkeep.days_made_from() returns timestamptz
language sql stable
begin atomic
  select time_bucket('1 day', m.made_from + interval '1 day' - interval '1 microsecond') from rollups_made m;
end;

-- Rebuilds the newest measured hour that is not yet rebuilt, and with the first hour of a day that day: one per call,
-- so that other work can run in between. `more`: whether any are left. Can be interrupted at any point; the next call
-- continues.
create procedure upkeep.remake_next(inout more boolean default false)
language plpgsql
as $$
declare
  made   rollups_made;
  newest timestamptz;
  day    timestamptz;
  hour   timestamptz;
  level  text;
begin
  select m.* into made from rollups_made m;
  more := not made.complete;
  if not more then
    return;
  end if;
  day := time_bucket('1 day', made.made_from - interval '1 microsecond');
  select m.minute into newest from sample_minute m where m.minute < made.made_from order by m.minute desc limit 1;
  if newest is null and made.made_from = day + interval '24 hours' then
    update rollups_made set complete = true;
    more := false;
    return;
  end if;
  -- skip days and hours without measurements, but not the last piece of a day, which adds it up
  if newest < day and made.made_from = day + interval '24 hours' then
    made.made_from := time_bucket('1 day', newest) + interval '24 hours';
    day := time_bucket('1 day', newest);
  end if;
  hour := least(made.made_from - interval '1 hour', greatest(day, time_bucket('1 hour', newest)));
  call upkeep.refresh('component_minute', hour, made.made_from, force => true, remaking => true);
  call upkeep.refresh('venue_minute', hour, made.made_from, force => true, remaking => true);
  if hour < made.hours_to and hour >= made.days_to - interval '1 day' then
    call upkeep.refresh('component_hour', hour, least(made.made_from, made.hours_to), force => true, remaking => true);
    call upkeep.refresh('venue_hour', hour, least(made.made_from, made.hours_to), force => true, remaking => true);
  end if;
  if hour = time_bucket('1 day', hour) then
    foreach level in array array['component_day', 'venue_day', 'latency_day', 'venue_latency_day'] loop
      -- an unfinished day will be added up when it is over
      if level like '%latency_day' or hour < made.days_to then
        call upkeep.refresh(level, hour, hour + interval '1 day', force => true, remaking => true);
      end if;
    end loop;
  end if;
  update rollups_made set made_from = hour;
  -- a rebuilt day replaces the figures of an earlier release from here on
  if hour = time_bucket('1 day', hour) then
    call upkeep.published_past_changed(hour);
  end if;
  commit;
end;
$$;
