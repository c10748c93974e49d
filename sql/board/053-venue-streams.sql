-- Totals of some streams, seen from one region, in `(from_at, to_at]`. Planned for each window, as
-- api.samples_between is.
create function api.streams_between(
  components integer[], only_region smallint, from_at timestamptz, to_at timestamptz, known_at timestamptz
)
returns table (
  component_id integer, samples bigint, good bigint, messages bigint, quiet_ms integer, sequence_gaps bigint
)
language plpgsql stable
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
begin
  return query
  select
    s.component_id, count(*), count(*) filter (where s.good), sum(s.messages), max(s.quiet_ms), sum(s.sequence_gaps)
  from sample s
  where s.component_id = any (components)
    and s.region_id = only_region
    and s.ts > from_at and s.ts <= to_at
    and api.known_by(known_at, s.ts, s.received_after_s)
  group by s.component_id;
end;
$$;

-- The streams of a venue's page, as seen from one region.
create function api.venue_streams(of_venue smallint, of_region smallint, span api.page_span) returns json
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  streams integer[] := array(select c.component_id from api.component c where c.venue_id = of_venue and c.kind = 'ws');
begin
  return (
    with heard as (
      select
        p.component_id,
        sum(p.samples)::int as samples,
        sum(p.good)::int as good,
        sum(p.messages) as messages,
        max(p.quiet_ms) as quiet_ms,
        -- null if frames are not numbered
        sum(p.sequence_gaps) as sequence_gaps
      from (
        select h.component_id, h.samples, h.good, h.messages, h.quiet_ms, h.sequence_gaps
        from stream_hour h
        where h.component_id = any (streams)
          and h.region_id = of_region
          and h.hour >= span.whole_from and (h.hour < span.kept_to) is true
        union all
        select s.*
        from (values
          (span.from_at, span.whole_from - interval '1 microsecond'),
          (span.kept_to - interval '1 microsecond', span.generated_at)
        ) as e (from_at, to_at)
        cross join lateral api.streams_between(streams, of_region, e.from_at, e.to_at, span.generated_at) s
      ) p
      group by p.component_id
    ),
    newest_events as (
      select distinct on (s.component_id) s.component_id, s.event_age_ms
      from sample s
      where s.component_id = any (streams)
        and s.region_id = of_region
        and s.ts > span.generated_at - interval '10 minutes' and s.ts <= span.generated_at
        and api.known_by(span.generated_at, s.ts, s.received_after_s)
        and s.ts > now() - interval '1 hour'
      order by s.component_id, s.ts desc
    )
    select coalesce(
      json_agg(
        json_build_object(
          'component', c.component,
          'name', c.name,
          'label', c.label,
          'target', c.target,
          'cadenceMs', c.cadence_ms,
          'state', c.state,
          'since', api.iso(c.since),
          'fault', case when c.state in ('degraded', 'outage') then api.present_fault(c.component_id) end,
          'unknownBecause', case when c.unjudged is not null then api.unknown_because(c.component_id, c.unjudged) end,
          'regionState', c.region_state,
          'samples', coalesce(m.samples, 0),
          'goodPct', trunc(100.0 * m.good / nullif(m.samples, 0), 3),
          'messagesPerMinute', round(m.messages * 60000.0 / nullif(m.samples::bigint * c.cadence_ms, 0), 1),
          'longestQuietMs', m.quiet_ms,
          'eventAgeMs', e.event_age_ms,
          'sequenceGaps', m.sequence_gaps,
          'stallAfterMs', c.stall_after_ms,
          'newestAt', api.iso(c.newest_at),
          'newestFault', c.newest_fault
        )
        order by c.position
      ),
      '[]'
    )
    from api.seen_components(of_venue, of_region) c
    left join heard m using (component_id)
    left join newest_events e using (component_id)
    where c.kind = 'ws'
  );
end;
$$;
