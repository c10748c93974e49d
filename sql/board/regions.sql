-- The regions: which report now and from where, how many samples they delivered, which are impaired, which components
-- none has seen good yet, and how many must agree. One row {generated_at, body}.
--
-- $1 minimum number of regions that must agree if as many are published (rule quorum_min_regions).
select
  k.generated_at,
  (
    select json_build_object(
      'generatedAt', api.iso(k.generated_at),
      'stale', false,
      'ageSeconds', null,
      'decidedAt', null,
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
          'probes', coalesce(
            (
              select json_agg(
                json_build_object(
                  'id', p.process,
                  'version', p.version,
                  'startedAt', api.iso(p.started_at),
                  'seenAt', api.iso(p.seen_at),
                  'venues', p.venues,
                  'unmeasuredSlots', p.unmeasured,
                  'unmeasuredByReason', p.unmeasured_by,
                  'clockErrorMs', round(p.clock_error_ms),
                  'clockErrorWithinMs', ceil(p.clock_error_within_ms),
                  'vantage', json_build_object(
                    'name', p.vantage_name,
                    'place', p.vantage_place,
                    'network', p.vantage_network,
                    'machine', p.machine
                  )
                )
                order by p.started_at, p.process
              )
              from api.probe p
              where p.region_id = g.region_id
            ),
            '[]'
          ),
          'troubles', coalesce(
            (
              select json_agg(
                json_build_object(
                  'probe', p.process,
                  'kind', t.kind,
                  -- by the probe's own clock, which may be ahead
                  'since', api.iso(least(t.since, p.seen_at)),
                  'detail', t.detail
                )
                order by t.since, t.kind, p.process
              )
              from api.probe p
              cross join lateral jsonb_to_recordset(p.troubles) as t (kind text, since timestamptz, detail text)
              where p.region_id = g.region_id
            ),
            '[]'
          ),
          'vantage', (
            -- what all of its probes report; the machine as the engine judges it
            select json_build_object(
              'name',
              case
                when count(distinct p.vantage_name) = 1 and count(p.vantage_name) = count(*) then min(p.vantage_name)
              end,
              'place',
              case
                when count(distinct p.vantage_place) = 1 and count(p.vantage_place) = count(*) then min(p.vantage_place)
              end,
              'network',
              case
                when count(distinct p.vantage_network) = 1 and count(p.vantage_network) = count(*)
                  then min(p.vantage_network)
              end,
              'machine', v.machine
            )
            from api.probe p
            where p.region_id = g.region_id
          ),
          'sameMachineAs', v.same_machine_as,
          'neverSeenGood', n.listed,
          'neverSeenGoodTotal', n.total,
          'impaired', case when g.impaired_since is not null then json_build_object(
            'since', api.iso(g.impaired_since),
            'recognisedAt', api.iso(g.impairment_recognised_at),
            'venues', g.impaired_by,
            'measured', g.impaired_of,
            'reason', format(
              '%s of %s venues measured there turned bad at once, and in no other region '
              'whose own network worked: its votes are not counted',
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
      'quorum',
      engine.quorum(count(*) filter (where g.reporting and g.impaired_since is null), count(*), $1),
      'vantages', (select p.vantages from api.vantages_of(array_agg(g.region_id) filter (where g.reporting)) p)
    )
    from api.region g
    join api.vantage v using (region_id)
    cross join lateral (
      select
        count(*) as total,
        coalesce(
          json_agg(
            json_build_object(
              'venue', c.venue,
              'component', c.component,
              'fault', c.newest_fault,
              'since', api.iso(c.since),
              'advice', api.advice_on(c.newest_fault)
            )
            order by c.place
          ) filter (where c.place <= 200),
          '[]'
        ) as listed
      from (
        select
          p.venue, p.component, s.newest_fault, k.unjudged_since as since,
          row_number() over (order by p.venue_position, p.position) as place
        from api.component p
        join api.component_state k using (component_id)
        join api.region_state s using (component_id)
        where k.unjudged = 'never' and s.region_id = g.region_id and s.newest_fault is not null
      ) c
    ) n
  )::text as body
from api.clock k
