-- Figures that are recomputed and probes that report, as each instant shows them.

-- Stores the typical latencies of the last seven days after their source was refreshed; the next instant shows them.
create procedure upkeep.store_typical()
language plpgsql
as $$
declare
  shown_from timestamptz;
begin
  -- one at a time: a concurrent call would duplicate the work
  lock table typical_week in share row exclusive mode;
  insert into typical_week (holds_from, venue_id, category, p50_ms, minutes)
  select 'infinity', t.venue_id, t.category, t.p50_ms, t.minutes
  from api.typical_of_week((clock_timestamp() at time zone 'UTC')::date) t;
  delete from typical_week t
  where t.holds_from < (
    select max(w.holds_from) from typical_week w where w.holds_from < clock_timestamp() - upkeep.versions_kept()
  );
  shown_from := upkeep.next_instant();
  -- versions that no instant has shown yet: no tick came between two computations, and the clock did not advance or was
  -- set back
  delete from typical_week where holds_from >= shown_from and holds_from < 'infinity';
  update typical_week set holds_from = shown_from where holds_from = 'infinity';
end;
$$;

-- Stores the current hours, and those that ended a few minutes ago, as the board shows them until they are published;
-- the next instant shows them.
create procedure upkeep.store_open_hours()
language plpgsql
as $$
declare
  shown_from timestamptz;
begin
  lock table open_hour in share row exclusive mode;
  insert into open_hour (hour, venue_id, holds_from, answers, p50_us)
  select n.hour, n.venue_id, 'infinity', n.answers, n.p50_us
  from (
    select
      m.hour, c.venue_id, sum(m.good) as answers, percentile_cont(0.5) within group (order by m.p50_us) as p50_us
    from sample_hour m
    join component c using (component_id)
    join venue v using (venue_id)
    where c.kind = 'rest' and c.published and v.published
      and m.p50_us is not null
      and m.hour >= (select time_bucket('1 hour', k.published_to) from api.clock k)
      -- for the planner, which excludes chunks only by now()
      and m.hour > now() - interval '2 days'
    group by m.hour, c.venue_id
  ) n
  -- only changes: most calls follow a roll-up of another hour
  where not exists (
    select
    from (
      select o.answers, o.p50_us
      from open_hour o
      where o.hour = n.hour and o.venue_id = n.venue_id
      order by o.holds_from desc
      limit 1
    ) newest
    where newest.answers = n.answers and newest.p50_us = n.p50_us
  );
  delete from open_hour o
  where o.hour < clock_timestamp() - interval '1 day'
    or exists (
      select
      from open_hour w
      where w.hour = o.hour and w.venue_id = o.venue_id
        and w.holds_from > o.holds_from and w.holds_from < clock_timestamp() - upkeep.versions_kept()
    );
  shown_from := upkeep.next_instant();
  -- as for typical_week
  delete from open_hour where holds_from >= shown_from and holds_from < 'infinity';
  update open_hour set holds_from = shown_from where holds_from = 'infinity';
end;
$$;

-- After a tick, in its transaction: stores the probes' current rows, for answers at this tick's instant, or a later one
-- if a heartbeat came after it. Both are needed: a tick is decided half a second after its instant, and the last
-- heartbeat of a probe that reports as often as the engine ticks might never lie before one.
create procedure upkeep.show_probes(at timestamptz)
language sql
begin atomic
  insert into shown_probe as s (region_id, process, seen_at, probe, venues)
  select
    p.region_id,
    p.process,
    date_trunc('milliseconds', p.seen_at),
    to_jsonb(p),
    (
      select count(*)
      from venue_lease w
      join venue v using (venue_id)
      where w.region_id = p.region_id and w.process = p.process and v.published
        and (v.ends_at <= show_probes.at) is not true
    )
  from probe p
  on conflict (region_id, process, seen_at) do update set probe = excluded.probe, venues = excluded.venues
  where (s.probe, s.venues) is distinct from (excluded.probe, excluded.venues);

  delete from shown_probe s
  where not exists (select from probe p where p.region_id = s.region_id and p.process = s.process)
    or exists (
      select
      from shown_probe w
      where w.region_id = s.region_id
        and w.process = s.process
        and w.seen_at > s.seen_at
        and w.seen_at <= show_probes.at
    );
end;

-- After a tick, in its transaction. Returns `decided` unchanged.
create function upkeep.follow_tick(at timestamptz, decided jsonb) returns jsonb
language plpgsql
as $$
begin
  if not decided ? 'refused' then
    call upkeep.show_probes(at);
    -- reports that this tick cannot have seen take effect after it
    update region_vantage v
    set holds_from = greatest(v.reported_at, follow_tick.at + interval '1 microsecond')
    where v.holds_from = 'infinity';
  end if;
  return decided;
end;
$$;
