-- The fleet: which regions report now, what they shipped, which have trouble of their own, and how many must agree.
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
          'unmeasuredSlots', g.unmeasured,
          'impaired', case when g.impaired_since is not null then json_build_object(
            'since', api.iso(g.impaired_since),
            'recognisedAt', api.iso(g.impairment_recognised_at),
            'venues', g.impaired_by,
            'measured', g.impaired_of,
            'reason', format(
              '%s of %s venues measured there turned bad at once, and in no other region: its votes are not counted',
              cardinality(g.impaired_by), g.impaired_of
            )
          ) end,
          'impairments', coalesce(
            (
              select json_agg(
                json_build_object(
                  'startedAt', api.iso(i.started_at),
                  'recognisedAt', api.iso(i.recognised_at),
                  'endedAt', api.iso(i.ended_at),
                  'venues', i.venues,
                  'measured', i.measured
                )
                order by i.recognised_at desc
              )
              from impairment i
              where i.region_id = g.region_id
                and coalesce(i.ended_at, k.generated_at) > k.generated_at - interval '7 days'
            ),
            '[]'
          )
        )
        order by g.position
      ),
      -- an impaired region has no vote
      'quorum', (count(*) filter (where g.reporting and g.impaired_since is null) / 2 + 1)
    )
    from api.region g
  )::text as body
from api.clock k
