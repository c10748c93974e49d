-- How long samples are shown: as long as all of them are kept. It is upkeep.raw_kept(), which web may not call; a test
-- compares the two. Chunks are dropped as a whole, so some samples are kept for longer: shown by their age, bodies of
-- one instant agree whether or not upkeep has dropped a chunk.
create function api.samples_kept() returns interval language sql immutable parallel safe return interval '8 days';

-- From when to when the samples of an incident are shown, `[from_at, to_at]`: all that its decisions looked at, from
-- ten minutes before it began, or as far back as the opening was judged if that is longer, to five minutes after it
-- closed. `is_over`: no slot will follow. Those before `kept_from` are no longer kept.
create view api.incident_span as
select
  i.slug,
  i.venue,
  i.component,
  i.component_id,
  s.from_at,
  s.to_at,
  k.generated_at,
  k.generated_at - api.samples_kept() as kept_from,
  (i.closed_at + interval '5 minutes' <= k.generated_at) is true as is_over
from api.incident i
join component c using (component_id)
cross join api.clock k
cross join lateral (
  select
    -- without the rules of that time the second is null, and `least` ignores it
    least(
      i.started_at - interval '10 minutes',
      i.opened_at - engine.looked_at_span(c.cadence_ms, engine.rules_at(i.opened_at))
    ) as from_at,
    least(i.closed_at + interval '5 minutes', k.generated_at) as to_at
) s;

-- A raw sample as it is published; a row type, as api.uptime is.
create type api.raw_sample as (
  "slot" text, "region" text, "good" boolean, "fault" text, "unserved" boolean, "receivedAfterSeconds" integer,
  "latencyMs" double precision, "dnsMs" double precision, "connectMs" double precision, "tlsMs" double precision,
  "firstByteMs" double precision, "httpStatus" integer, "fresh" boolean, "lateMs" integer, "head" bigint,
  "messages" integer, "quietMs" integer, "eventAgeMs" integer, "sequenceGaps" integer, "refusal" text
);

-- One page of the samples of a component in `[from_at, to_at]` that had arrived by known_at: by slot, and within a slot
-- by region_id. `after_at` continues strictly after that slot; with `after_region` within it, after that region.
--
-- A separate function, planned for each page, as api.samples_between is. In the order of chunks, so that a page of a
-- long incident reads the chunks of that page only.
create function api.sample_page(
  of_component integer, from_at timestamptz, to_at timestamptz, known_at timestamptz, after_at timestamptz,
  after_region smallint, max_rows integer
)
returns table (ts timestamptz, region_id smallint, sample api.raw_sample)
language plpgsql stable
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
  begins_at timestamptz := greatest(from_at, after_at);
begin
  return query
  select
    n.ts,
    n.region_id,
    row(
      api.iso(n.ts), g.region, n.good, n.fault::text, coalesce(n.unserved, false), n.received_after_s,
      n.latency_us / 1000::double precision, n.dns_us / 1000::double precision, n.connect_us / 1000::double precision,
      n.tls_us / 1000::double precision, n.first_byte_us / 1000::double precision, n.http_status, n.fresh, n.late_ms,
      n.head, n.messages, n.quiet_ms, n.event_age_ms, n.sequence_gaps, n.refusal
    )::api.raw_sample
  from (
    select s.*
    from sample s
    where s.component_id = of_component
      and s.ts >= begins_at and s.ts <= to_at
      and (after_at is null or s.ts > after_at or s.region_id > after_region)
      and api.known_by(known_at, s.ts, s.received_after_s)
    order by s.ts, s.region_id
    limit max_rows
  ) n
  join region g using (region_id)
  order by n.ts, n.region_id;
end;
$$;
