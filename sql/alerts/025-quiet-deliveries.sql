-- Alerts that a channel does not want while announced maintenance lasts. They are skipped, and sent after all if the
-- incident outlasts the maintenance.

-- Why such a delivery was skipped; the delivery log shows it, and it tells them from others.
create function engine.quiet_reason() returns text language sql immutable return 'announced maintenance';

-- Skipped deliveries whose incident has outlasted the maintenance, or whose maintenance no longer stands; also of an
-- incident that has closed since, as long as its closing waits in the outbox. Found by incidents, which are few:
-- dispatchers ask at least once a second. PL/pgSQL, because a connection keeps its plan.
create function engine.overrun_deliveries() returns table (delivery_id bigint)
language plpgsql stable
as $$
#variable_conflict use_column
begin
  return query
  with overrun as materialized (
    select i.incident_id
    from incident i
    join component c using (component_id)
    where i.retracted_at is null
      and (
        i.closed_at is null
        or i.incident_id in (
          select e.incident_id
          from alert_event e
          where e.kind = 'closed' and e.dispatched_at is null and e.dropped_at is null
        )
      )
      and exists (
        select
        from alert_event e
        join delivery d using (event_id)
        where e.incident_id = i.incident_id and d.state = 'skipped' and d.reason = 'announced maintenance'
      )
      and (api.maintenance_beside(c.venue_id, i.started_at, i.opened_at, i.last_bad_at) ->> 'overran')
        is distinct from 'false'
  )
  select d.delivery_id
  from overrun o
  join alert_event e using (incident_id)
  join delivery d using (event_id)
  where d.state = 'skipped' and d.reason = 'announced maintenance';
end;
$$;
