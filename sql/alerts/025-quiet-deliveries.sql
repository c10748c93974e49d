-- Alerts that a channel does not want while announced maintenance lasts. They are skipped, and sent after all if the
-- incident outlasts the maintenance.

-- Why such a delivery was skipped; the delivery log shows it, and it tells them from others.
create function engine.quiet_reason() returns text language sql immutable return 'announced maintenance';

-- Skipped deliveries whose incident has outlasted the maintenance, or whose maintenance no longer stands. Found by open
-- incidents, which are few: dispatchers ask at least once a second. PL/pgSQL, because a connection keeps its plan.
create function engine.overrun_deliveries() returns table (delivery_id bigint)
language plpgsql stable
as $$
#variable_conflict use_column
begin
  return query
  select d.delivery_id
  from incident i
  join component c using (component_id)
  join alert_event e using (incident_id)
  join delivery d using (event_id)
  where i.closed_at is null
    and i.retracted_at is null
    and d.state = 'skipped'
    and d.reason = engine.quiet_reason()
    and (api.maintenance_beside(c.venue_id, i.started_at, i.opened_at, null) ->> 'overran') is distinct from 'false';
end;
$$;
