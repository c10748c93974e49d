-- What is done once on a new timeline (schema/004-engine.sql), before anything is decided there.

-- For this long after a promotion nothing is decided and no alert is sent. Meanwhile every core restores those lost
-- incidents whose alerts it has sent (alerts/restore_sent.sql), so that the engine continues them instead of opening
-- new ones. Cores reach a new primary within some three seconds of each other. The missed instants are decided
-- afterwards, one by one.
create function engine.restore_window() returns interval language sql immutable return interval '10 seconds';

-- Whether the engine may decide and dispatchers may send. Volatile, like clock_timestamp, or the planner would not
-- inline it.
create function engine.is_restored(t timeline) returns boolean
language sql volatile
return t.timeline = current_timeline() and t.adopted_at <= clock_timestamp() - engine.restore_window();

-- Ensures that numbers seen by receivers or programs are not issued again. A sequence is replicated like everything
-- else, so after a failover it may be behind by what was lost. A hundred thousand is far more than is issued during the
-- longest acceptable lag. It is multiplied by the timeline's number, because a second failover may lose this very step,
-- and must not reach the same numbers.
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
    pg_get_serial_sequence('change_event', 'change_id'),
    pg_get_serial_sequence('delivery', 'delivery_id'),
    -- a pending answer must not settle a new attempt with the same number
    pg_get_serial_sequence('delivery_attempt', 'attempt_id')
  ] loop
    perform setval(sequence, nextval(sequence) + step);
  end loop;
end;
$$;

-- As engine.is_restored; the first core to see a new timeline records it.
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
