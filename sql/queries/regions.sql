-- The fleet: which regions report now, what they shipped, and how many must agree.
-- One row {generated_at, body}.
select
  k.generated_at,
  (
    select json_build_object(
      'generatedAt', api.iso(k.generated_at),
      'regions', json_agg(
        json_build_object(
          'id', g.region,
          'name', g.name,
          'reporting', g.reporting,
          'newestAt', api.iso(g.newest_at),
          'samplesLastHour', g.samples_last_hour,
          'goodPctLastHour', trunc(100.0 * g.good_last_hour / nullif(g.samples_last_hour, 0), 3),
          'probeVersion', g.probe_version,
          'probeStartedAt', api.iso(g.probe_started_at),
          'unmeasuredSlots', g.unmeasured
        )
        order by g.position
      ),
      'quorum', (count(*) filter (where g.reporting) / 2 + 1)
    )
    from api.region g
  )::text as body
from api.clock k
