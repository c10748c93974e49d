-- Changes of published history, each of which gets an instant of its own.

-- Records that this transaction changes published history from an instant on (null: from the beginning), so that
-- everything shown after its commit has a different instant. Call it right before the commit, because the next tick
-- waits for it. It also waits for a tick in progress, so that no minute is published in its former state meanwhile.
create procedure upkeep.published_past_changed(from_at timestamptz default null)
language plpgsql
as $$
declare
  published_to timestamptz;
begin
  perform from engine_clock for update;
  select k.published_to into published_to from api.clock k;
  if from_at is null or from_at < published_to then
    update engine_clock set revision = revision_after(ticked_at, revision, silent_after_ms, ticked_at);
  end if;
end;
$$;

-- Records what a refresh writes in the refresh's own transaction, which our code cannot commit: by a trigger on each
-- roll-up's materialization hypertable, fired after the rows are written, so that the clock is locked only until the
-- commit. Roll-ups of later schema files get their trigger here.
do $$
declare
  kept_in text;
begin
  for kept_in in
    select format('%I.%I', ca.materialization_hypertable_schema, ca.materialization_hypertable_name)
    from timescaledb_information.continuous_aggregates ca
    where ca.view_schema = 'venuewatch'
      and not exists (
        select
        from pg_trigger t
        where t.tgname = 'note_refresh'
          and t.tgrelid = format(
            '%I.%I', ca.materialization_hypertable_schema, ca.materialization_hypertable_name
          )::regclass
      )
  loop
    execute format(
      'create trigger note_refresh after insert on %s for each statement execute function venuewatch.note_refresh()',
      kept_in
    );
  end loop;
end;
$$;

-- The first instant that may show what this transaction computed: later than any that was already shown, and not before
-- now. Locked until the commit, as above.
create function upkeep.next_instant() returns timestamptz
language plpgsql
as $$
declare
  shown_at timestamptz;
begin
  select c.ticked_at + c.revision * interval '1 millisecond' into shown_at from engine_clock c for update;
  return greatest(clock_timestamp(), shown_at + interval '1 microsecond');
end;
$$;
