-- The content of an alert: the incident as the API shows it at sending time, and the evidence that the engine had when
-- it decided the event. What the public may not see raises no alert: neither retracted incidents, nor openings and
-- escalations at unpublished venues. Closings at such venues are sent, because a receiver that got the opening would
-- wait for them forever.

-- The votes of the evidence at an instant, with a summary sentence; null without votes.
create function api.evidence_of(kind text, noted jsonb) returns json
language sql stable
begin atomic
  with voted as (
    select
      count(*) filter (
        where vote ->> 'vote' = 'outage' or (kind <> 'escalated' and vote ->> 'vote' = 'degraded')
      ) as agreeing,
      json_agg(
        json_build_object(
          'region', vote -> 'region',
          'vote', vote -> 'vote',
          'samples', vote -> 'samples',
          'bad', vote -> 'bad',
          'slow', vote -> 'slow',
          'faults', vote -> 'faults',
          'newestAt', vote -> 'newestAt',
          'probeVersion', vote -> 'probeVersion'
        )
        order by place
      ) as votes
    from jsonb_array_elements(
      case when jsonb_typeof(noted -> 'votes') = 'array' then noted -> 'votes' end
    ) with ordinality as v (vote, place)
  ),
  faults as (
    select string_agg(f.fault || ' ' || f.n, ', ' order by f.n desc, f.fault) as list
    from (
      select f.key as fault, sum(f.value::numeric) as n
      from jsonb_array_elements(case when jsonb_typeof(noted -> 'votes') = 'array' then noted -> 'votes' end) vote
      cross join jsonb_each_text(vote -> 'faults') f
      group by f.key
    ) f
  )
  select json_build_object(
    'summary', format(
      '%s of %s regions with a vote see %s; %s %s needed%s',
      s.agreeing,
      noted -> 'counted',
      case kind when 'escalated' then 'an outage' else 'it bad' end,
      noted ->> 'quorum',
      case when kind = 'closed' then 'would be' when noted ->> 'quorum' = '1' then 'is' else 'are' end,
      ': ' || f.list
    ),
    'reporting', noted -> 'reporting',
    'counted', noted -> 'counted',
    'quorum', noted -> 'quorum',
    'confirming', noted -> 'confirming',
    'votes', coalesce(s.votes, '[]'),
    'notCounted', coalesce(
      (
        select json_agg(json_build_object('region', n -> 'region', 'reason', n -> 'reason') order by place)
        from jsonb_array_elements(noted -> 'notCounted') with ordinality as c (n, place)
      ),
      '[]'
    )
  )
  from voted s
  cross join faults f
  -- an end without votes, such as that of a component that is no longer watched, has no evidence to send
  where jsonb_typeof(noted -> 'votes') = 'array';
end;

create view api.alert as
select
  e.event_id,
  e.incident_id,
  json_build_object(
    'eventId', e.event_id,
    'test', false,
    'kind', e.kind,
    'severity', e.severity,
    'at', api.iso(e.at),
    'incident', i.body,
    'venue', json_build_object(
      'id', v.venue, 'name', v.name, 'category', v.category, 'symbol', v.symbol, 'quote', v.quote
    ),
    'component', json_build_object('id', c.component, 'kind', c.kind, 'label', c.label, 'target', c.target),
    'evidence', api.evidence_of(
      e.kind,
      i.evidence -> case e.kind when 'opened' then 'opening' when 'escalated' then 'escalation' else 'closing' end
    )
  ) as body
from alert_event e
join api.incident_written i using (incident_id)
join venue v on v.venue_id = i.venue_id
join component c on c.component_id = i.component_id
where i.published or e.kind = 'closed'
union all
select
  e.event_id,
  null,
  json_build_object(
    'eventId', e.event_id,
    'test', false,
    'kind', e.kind,
    'at', api.iso(e.at),
    'transfer', json_build_object(
      'asset', l.asset,
      'network', n.network,
      'networkName', n.name,
      'venueNetwork', l.venue_network,
      'direction', e.direction,
      'state', case e.kind when 'transfer_paused' then 'paused' when 'transfer_resumed' then 'open' else 'unknown' end,
      'because', e.because,
      'pausedAt', api.iso(e.paused_since),
      'resumedAt', case e.kind when 'transfer_resumed' then api.iso(e.at) end
    ),
    'venue', json_build_object(
      'id', v.venue, 'name', v.name, 'category', v.category, 'symbol', v.symbol, 'quote', v.quote
    )
  )
from alert_event e
join transfer_line l using (line_id)
join venue v using (venue_id)
left join transfer_network n on n.network = l.network and n.published
where v.published;

-- Whether an event concerns a channel. Null venues or categories mean all; an asset: the event is about transfers.
create function api.concerns(channel channel, severity state, asset text, venue text, category text) returns boolean
language sql immutable
return case when asset is null then severity >= (channel).severity_floor else asset = any ((channel).transfers) end
  and ((channel).venues is null or venue = any ((channel).venues))
  and ((channel).categories is null or category = any ((channel).categories));
