-- Adding up what venues declared about deposits and withdrawals.

-- Spans are kept as long as states are: nothing of them is dropped while a refresh could look for it.
create function upkeep.transfers_kept() returns interval language sql immutable return upkeep.states_kept();

-- A list that was unreadable for days leaves a span of the day on which it was last read, when it can be read again.
-- Until then it is unknown, so a refresh reaches back a while. Windows without changes cost next to nothing.
create function upkeep.late_transfers() returns interval language sql immutable return interval '10 days';

-- Every ten minutes: the days, and the sum of those that are complete. Yesterday is not: its last piece is written with
-- the first reading of today.
create procedure upkeep.refresh_transfers(at timestamptz)
language plpgsql
as $$
declare
  today       timestamptz := time_bucket('1 day', at);
  from_needed timestamptz := today - (api.transfer_days() - 1) * interval '1 day';
  to_complete timestamptz := today - interval '1 day';
begin
  call upkeep.refresh('transfer_day', today - upkeep.late_transfers(), today + interval '1 day', unasked => true);
  insert into transfer_past as p (line_id, direction, open_minutes, paused_minutes, pauses)
  select
    d.line_id,
    d.direction,
    coalesce(sum(d.open_minutes), 0),
    coalesce(sum(d.paused_minutes), 0),
    sum(d.pauses)::int
  from transfer_day d
  where d.day >= from_needed and d.day < to_complete
  group by d.line_id, d.direction
  on conflict (line_id, direction) do update
    set open_minutes = excluded.open_minutes, paused_minutes = excluded.paused_minutes, pauses = excluded.pauses
    where (p.open_minutes, p.paused_minutes, p.pauses)
      is distinct from (excluded.open_minutes, excluded.paused_minutes, excluded.pauses);
  delete from transfer_past p
  where not exists (
    select
    from transfer_day d
    where d.line_id = p.line_id and d.direction = p.direction and d.day >= from_needed and d.day < to_complete
  );
  update transfer_window w
  set from_day = from_needed, to_day = to_complete
  where (w.from_day, w.to_day) is distinct from (from_needed, to_complete);
  call upkeep.published_past_changed();
  commit;
end;
$$;
