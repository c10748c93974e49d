-- Adding up what venues declared about deposits and withdrawals.

-- Spans are kept as long as states are: nothing of them is dropped while a refresh could look for it.
create function upkeep.transfers_kept() returns interval language sql immutable return upkeep.states_kept();

-- A list that was unreadable for days leaves a span of the day on which it was last read, when it can be read again.
-- Until then it is unknown, so a refresh reaches back a while. Windows without changes cost next to nothing.
create function upkeep.late_transfers() returns interval language sql immutable return interval '10 days';

-- Every ten minutes: the days, and the sums of the window. Readings add their pieces to these sums themselves, and wait
-- while they are renewed.
create procedure upkeep.refresh_transfers(at timestamptz)
language plpgsql
as $$
declare
  today       timestamptz := time_bucket('1 day', at);
  yesterday   timestamptz := today - interval '1 day';
  from_needed timestamptz := today - (api.transfer_days() - 1) * interval '1 day';
begin
  call upkeep.refresh('transfer_day', today - upkeep.late_transfers(), today + interval '1 day', unasked => true);
  lock table transfer_past in share row exclusive mode;
  with sums as materialized (
    select
      m.line_id,
      m.direction,
      coalesce(sum(m.open_minutes), 0) as open_minutes,
      coalesce(sum(m.paused_minutes), 0) as paused_minutes,
      sum(m.pauses)::int as pauses
    from (
      select d.line_id, d.direction, d.open_minutes, d.paused_minutes, d.pauses
      from transfer_day d
      where d.day >= from_needed and d.day < yesterday
      union all
      -- from the pieces, since a reading may have written more of them after these days were refreshed
      select
        s.line_id,
        s.direction,
        date_part('epoch', s.ended_at - s.started_at) / 60 * (s.state = 'open')::int,
        date_part('epoch', s.ended_at - s.started_at) / 60 * (s.state = 'paused')::int,
        (s.state = 'paused' and s.begins)::int
      from transfer_span s
      where s.started_at >= yesterday
    ) m
    group by m.line_id, m.direction
  ),
  gone as (
    delete from transfer_past p
    where not exists (select from sums m where m.line_id = p.line_id and m.direction = p.direction)
  )
  insert into transfer_past as p (line_id, direction, open_minutes, paused_minutes, pauses)
  select m.line_id, m.direction, m.open_minutes, m.paused_minutes, m.pauses from sums m
  on conflict (line_id, direction) do update
    set open_minutes = excluded.open_minutes, paused_minutes = excluded.paused_minutes, pauses = excluded.pauses
    where (p.open_minutes, p.paused_minutes, p.pauses)
      is distinct from (excluded.open_minutes, excluded.paused_minutes, excluded.pauses);
  update transfer_window w set from_day = from_needed where w.from_day is distinct from from_needed;
  -- a reading locks the clock first
  commit;
  call upkeep.published_past_changed();
  commit;
end;
$$;
