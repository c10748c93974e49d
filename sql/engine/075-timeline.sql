-- What is done once on a new timeline (schema/023-timeline.sql), before anything is decided there.

-- For this long after a promotion nothing is decided and no alert is sent: every core restores meanwhile what it has
-- sent of what was lost (queries/restore_sent.sql), so that the engine goes on with these incidents instead of opening
-- others. Cores come to a new primary within some three seconds of each other. What is missed is decided afterwards,
-- instant by instant.
create function engine.restore_window() returns interval language sql immutable return interval '10 seconds';

-- Whether the engine may decide and dispatchers may send. Volatile like clock_timestamp, or the planner would not
-- inline it.
create function engine.is_restored(t timeline) returns boolean
language sql volatile
return t.timeline = current_timeline() and t.adopted_at <= clock_timestamp() - engine.restore_window();

-- No number that receivers or programs have seen is given again. A sequence is replicated like anything else, so it may
-- have gone back by as much as was lost. A hundred thousand is far beyond what happens in the longest lag that anybody
-- accepts. It is multiplied by the number of the timeline, since a second failover may lose this very step, and must
-- not come to the same numbers.
create function engine.skip_lost_numbers() returns void
language plpgsql
as $$
declare
  step     bigint := 100000 * ('x' || current_timeline())::bit(32)::bigint;
  sequence text;
begin
  foreach sequence in array array[
    pg_get_serial_sequence('incident', 'incident_id'),
    pg_get_serial_sequence('alert_event', 'event_id'),
    pg_get_serial_sequence('delivery', 'delivery_id'),
    -- an answer that was under way must not settle an attempt that got the same number
    pg_get_serial_sequence('delivery_attempt', 'attempt_id')
  ] loop
    perform setval(sequence, nextval(sequence) + step);
  end loop;
end;
$$;

-- engine.is_restored; the first core to see a new timeline records it.
create function engine.adopt_timeline() returns boolean
language plpgsql
as $$
declare
  known timeline;
begin
  select * into known from timeline;
  if known.timeline <> current_timeline() then
    update timeline t
    set timeline = current_timeline(), adopted_at = clock_timestamp()
    where t.timeline <> current_timeline();
    if found then
      perform engine.skip_lost_numbers();
    end if;
    return false;
  end if;
  return engine.is_restored(known);
end;
$$;
