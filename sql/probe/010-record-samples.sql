-- Refuse a session that may not speak for this region: a stolen login of a probe must not be a quorum by itself. A
-- login speaks for the region that it was made for (venuewatch login --region); the user who migrates, for every
-- region.
create function upkeep.require_region(region text) returns void
language plpgsql stable security definer
set search_path = venuewatch, pg_temp
as $$
begin
  if not exists (select from probe_login l where l.login = session_user and l.region = require_region.region)
    and not pg_has_role(session_user, (select nspowner from pg_namespace where nspname = 'venuewatch'), 'usage')
  then
    raise exception 'expected a login of the region %, got %, which is one of %', region, session_user,
      coalesce((select l.region from probe_login l where l.login = session_user), 'no region')
      using errcode = 'insufficient_privilege',
        hint = format('set REGION, or run venuewatch login %s --role probe --region %s', session_user, region);
  end if;
end;
$$;

-- Store a batch of samples from one region: an array of JSON objects, whose keys are the columns below.
--
-- Runs with the rights of core, which owns the samples: a probe has no right on samples, and none to change or lock any
-- table.
--
-- Returns the database's timeline (schema/004-engine.sql); whether the region is known; which samples are of an
-- unknown component, counted from 1; and how many of the others were accepted, and how many of these are new. An
-- accepted sample that is not new was delivered before. Samples that are neither unknown nor accepted are refused for
-- good: older than roll-ups may still change, or more than a minute ahead of this database's clock (it would push a
-- roll-up's watermark beyond now).
--
-- PL/pgSQL, because a connection keeps its plan. Planned at each call, it took the embedded database twice the time.
create function upkeep.record_samples(region text, samples json)
returns table (timeline text, knows_region boolean, unknown int[], accepted int, stored int)
language plpgsql security definer
set search_path = venuewatch, pg_temp
as $$
#variable_conflict use_column
begin
  perform upkeep.require_region(region);
  return query
  with here as (
    select region_id from region where region = record_samples.region
  ),
  -- Once per batch, not per sample. Also by former ids: a spool, or a probe that has run since then, has samples from
  -- before a venue was renamed.
  known as materialized (
    select n.venue, c.component, c.component_id
    from venue v
    cross join lateral unnest(v.venue || v.former_ids) as n (venue)
    join component c using (venue_id)
  ),
  accepted as (
    select c.component_id, g.*
    from json_to_recordset(samples) as g (
      venue                  text,
      component              text,
      slot_at                timestamptz,
      fault                  fault,
      latency_us             integer,
      dns_us                 integer,
      connect_us             integer,
      tls_us                 integer,
      first_byte_us          integer,
      http_status            smallint,
      head                   bigint,
      messages               integer,
      quiet_ms               integer,
      event_age_ms           integer,
      late_ms                smallint,
      fresh                  boolean,
      certificate_expires_at timestamptz,
      sequence_gaps          integer,
      clock_error_ms         integer,
      clock_error_within_ms  integer,
      refusal                text,
      unserved               boolean
    )
    join known c using (venue, component)
    where g.slot_at > now() - upkeep.refused_after()
      and g.slot_at <= now() + interval '1 minute'
      and exists (select from here)
  ),
  stored as (
    insert into sample (
      ts, component_id, region_id, good, fault, latency_us, dns_us, connect_us, tls_us, first_byte_us, http_status,
      head, messages, quiet_ms, event_age_ms, late_ms, fresh, certificate_expires_at, sequence_gaps, clock_error_ms,
      clock_error_within_ms, refusal, unserved, received_after_s
    )
    select
      a.slot_at, a.component_id, (select region_id from here), a.fault is null, a.fault, a.latency_us, a.dns_us,
      a.connect_us, a.tls_us, a.first_byte_us, a.http_status,
      a.head, a.messages, a.quiet_ms, a.event_age_ms, a.late_ms, a.fresh, a.certificate_expires_at, a.sequence_gaps,
      a.clock_error_ms, a.clock_error_within_ms, left(a.refusal, 200), a.unserved,
      -- the current clock, not the start of the transaction: the engine relies on it to know what was known when
      greatest(0, ceil(extract(epoch from clock_timestamp() - a.slot_at)))
    from accepted a
    -- two batches with the same samples take their locks in the same order, which avoids a deadlock
    order by a.component_id, a.slot_at
    on conflict do nothing
    returning 1
  )
  select
    current_timeline() as timeline,
    exists (select from here) as knows_region,
    -- computed only if some were not accepted
    case when (select count(*) from accepted) = json_array_length(samples) then '{}' else array(
      select g.place::int
      from rows from (
        json_to_recordset(samples) as (venue text, component text, slot_at timestamptz)
      ) with ordinality as g (venue, component, slot_at, place)
      where g.slot_at > now() - upkeep.refused_after()
        and g.slot_at <= now() + interval '1 minute'
        and not exists (select from known k where k.venue = g.venue and k.component = g.component)
      order by g.place
    ) end as unknown,
    (select count(*) from accepted)::int as accepted,
    (select count(*) from stored)::int as stored;
end;
$$;
