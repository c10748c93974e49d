-- What venues publish about themselves, beside what we measured: the state of their feeds, their notices, and which
-- notices started near our incidents. Nothing here claims that a notice and an incident are about the same fault: that
-- cannot be known.

-- Maximum distance between the starts of an incident and a notice that are shown together, either way.
create function api.paired_within() returns interval language sql immutable parallel safe return interval '6 hours';

-- A feed that was not read for this long is no longer known to be readable, and a gap of this length ends a run of
-- readings. Feeds are read every minute and a half, and a venue may ask for a delay of ten minutes.
create function api.feed_silent_after()
returns interval language sql immutable parallel safe return interval '15 minutes';

-- Whether all venues of a feed have ended: then nobody reads it any longer.
create function api.feed_has_ended(of_feed integer) returns boolean
language sql stable
begin atomic
  select coalesce(bool_and(coalesce(v.ends_at <= clock_timestamp(), false)), false)
  from venue v
  where v.feed_id = of_feed and v.published;
end;

-- Minimum number of leads for a median: with fewer it says more about chance than about the venue.
create function api.least_leads() returns integer language sql immutable parallel safe return 5;

-- Words of the registry as lower-case patterns for `like`; null if there are none.
create function api.like_any(words text[]) returns text[]
language sql immutable parallel safe
return (
  select array_agg('%' || replace(replace(replace(lower(w), '\', '\\'), '%', '\%'), '_', '\_') || '%')
  from unnest(words) w
);

-- The texts of a JSON list, in order.
create function api.texts(list jsonb) returns text[]
language sql immutable parallel safe
return (
  select coalesce(array_agg(t.text order by t.place), '{}')
  from jsonb_array_elements_text(list) with ordinality t (text, place)
);

-- Whether feeds of this kind can announce an outage. The others only announce maintenance, so that their silence about
-- an outage means nothing.
create function api.kind_tells_incidents(kind text) returns boolean
language sql immutable parallel safe
return kind not in ('binance-system-status', 'bitget-announcements', 'gate-announcements');

-- Whether the venue's feed can be read: `readable`, `unreadable` with the problem and its start, or `none` without a
-- machine-readable feed. Judged here, as of the instant of the answer, so that it also works when core is dead. It
-- never affects the venue's own state.
create view api.feed as
select
  v.venue_id,
  v.feed_id,
  api.kind_tells_incidents(v.official_kind) as tells_incidents,
  f.state,
  case f.state
    when 'unreadable' then coalesce(r.problem, 'not read since ' || api.iso(r.until_at), 'not read yet')
  end as problem,
  case
    when f.state = 'none' then null
    when f.state = 'readable' or r.problem is not null then r.from_at
    else coalesce(r.until_at, s.added_at)
  end as since,
  -- `least` ignores nulls
  case when g.read_at is not null then least(g.read_at, k.generated_at) end as read_at
from venue v
cross join api.clock k
left join feed s using (feed_id)
left join lateral (
  select w.*
  from feed_poll w
  where w.feed_id = v.feed_id and w.from_at <= k.generated_at
  order by w.from_at desc
  limit 1
) r on true
left join lateral (
  select w.until_at as read_at
  from feed_poll w
  where w.feed_id = v.feed_id and w.from_at <= k.generated_at and w.problem is null
  order by w.from_at desc
  limit 1
) g on true
cross join lateral (
  select case
    -- nobody reads it any more once its venue has ended
    when v.feed_id is null or v.ends_at <= k.generated_at then 'none'
    -- A reading in the future is no sign of life: some clock was wrong. Feeds are still read while an engine hangs, up
    -- to the five minutes after which that counts as silence, so six minutes are allowed.
    when r.problem is null
      and r.until_at between k.generated_at - api.feed_silent_after() and k.generated_at + interval '6 minutes'
      then 'readable'
    else 'unreadable'
  end as state
) f
where v.published;

-- The Feed object.
create function api.feed_body(f api.feed) returns json
language sql stable
return json_build_object(
  'state', f.state,
  'problem', f.problem,
  'since', api.iso(f.since),
  'readAt', api.iso(f.read_at),
  'tellsIncidents', f.feed_id is not null and f.tells_incidents
);

-- The times between two instants for which we know the content of these feeds: when they were read, with gaps shorter
-- than a break, and what their histories covered.
create function api.feed_coverage(source_ids integer[], from_at timestamptz, to_at timestamptz)
returns table (feed_id integer, seen tstzmultirange)
language sql stable
begin atomic
  select r.feed_id, range_agg(tstzrange(r.covers_from, r.until_at + api.feed_silent_after(), '[]'))
  from feed_poll r
  where r.feed_id = any (source_ids)
    and r.problem is null
    and r.until_at >= from_at - api.feed_silent_after()
    and r.covers_from <= to_at
  group by r.feed_id;
end;

-- The notices of each venue that had been read by the instant of the answer. `kind` is incident, maintenance, or other:
-- an incident about nothing that we measure (deposits, listings), which `off_topic` also says of a maintenance. If a
-- notice names components, all of them must be such; a title with such a word may still describe a complete outage,
-- unless the venue itself rates the impact as none. Only incidents with plausible times can be paired. Expressions are
-- written inline here, because as functions they would be planned for each row.
create view api.notice as
select
  v.venue_id,
  n.notice_id,
  n.external_id,
  n.title,
  n.url,
  case when n.kind = 'incident' and t.off_topic then 'other' else n.kind end as kind,
  t.off_topic,
  n.status,
  n.impact,
  n.started_at,
  n.posted_at,
  n.resolved_at,
  n.planned_end_at,
  n.window_from,
  n.window_until,
  n.announced_at,
  n.over,
  -- In the future when first seen, older than any window, or over before it began; work may be called off before it.
  -- Over in the future by the reading that said so; some give the planned end of what ended early.
  (
    n.kind = 'incident' and coalesce(n.resolved_at < n.started_at, false)
    or coalesce(n.resolved_at > coalesce(n.left_at, n.last_seen_at) + interval '1 day', false)
    or
    n.started_at > n.first_seen_at + case n.kind when 'incident' then interval '10 minutes' else interval '400 days' end
    or n.started_at < n.first_seen_at - interval '366 days'
    or coalesce(
      n.posted_at > n.first_seen_at + interval '10 minutes' or n.posted_at < n.first_seen_at - interval '366 days',
      false
    )
  ) as doubtful,
  n.first_seen_at,
  least(
    case when n.left_at is null then greatest(n.last_seen_at, g.read_at) else n.last_seen_at end, k.generated_at
  ) as last_seen_at,
  n.left_at,
  n.vanished
from venue v
cross join api.clock k
left join lateral (
  select w.until_at as read_at
  from feed_poll w
  where w.feed_id = v.feed_id and w.problem is null
  order by w.from_at desc
  limit 1
) g on true
join notice n on n.feed_id = v.feed_id
cross join lateral (
  select case
    when v.official_not_about is null then false
    when (n.subjects = '{}' or n.impact = 'none') and lower(n.title) like any (v.official_not_about) then true
    when n.subjects = '{}' then false
    else not exists (select from unnest(n.subjects) s where not lower(s) like any (v.official_not_about))
  end as off_topic
) t
where n.first_seen_at <= k.generated_at
  -- about this venue, if several share the feed, by its title, an earlier title or a component
  and (
    v.official_about is null
    or lower(n.title) like any (v.official_about)
    or exists (select from unnest(n.subjects) s where lower(s) like any (v.official_about))
    or exists (
      select from notice_change c where c.notice_id = n.notice_id and lower(c.title) like any (v.official_about)
    )
  );

-- Seconds by which we published an incident before the venue published a notice; negative if the venue was first.
-- Compares publication times, not stated starts. Null if the feed gives no publication time, or the engine had been
-- away and published late.
create function api.ahead_seconds(of_incident bigint, opened_at timestamptz, posted_at timestamptz) returns integer
language sql stable
return case
  when not exists (select from alert_event e where e.incident_id = of_incident and e.kind = 'opened' and e.late)
  then round(extract(epoch from posted_at - opened_at))::int
end;

-- The OfficialIncident object, the same wherever it appears. `ahead` only beside an incident.
create function api.notice_body(n api.notice, ahead integer) returns json
language sql stable
return json_build_object(
  'id', n.external_id,
  'title', n.title,
  'url', n.url,
  'kind', n.kind,
  'status', n.status,
  'impact', n.impact,
  'startedAt', api.iso(n.started_at),
  'postedAt', api.iso(n.posted_at),
  'resolvedAt', api.iso(n.resolved_at),
  'firstSeenAt', api.iso(n.first_seen_at),
  'lastSeenAt', api.iso(n.last_seen_at),
  'vanished', n.vanished,
  'timesDoubtful', n.doubtful,
  'subjectMatched', false,
  'aheadUncorrelated', ahead
);

-- The venue's notice shown beside an incident: the nearest start, if any is near. plpgsql, because its plan is cached:
-- the board shows incidents, and planning this each time would cost more than the rest of it.
create function api.notice_beside(of_venue smallint, of_incident bigint, started timestamptz, opened timestamptz)
returns json
language plpgsql stable
as $$
begin
  return (
    select api.notice_body(n, api.ahead_seconds(of_incident, opened, n.posted_at))
    from api.notice n
    where n.venue_id = of_venue
      and n.kind = 'incident'
      and not n.doubtful
      and n.started_at between started - api.paired_within() and started + api.paired_within()
    order by abs(extract(epoch from n.started_at - started)), n.started_at, n.notice_id
    limit 1
  );
end;
$$;

-- Whether we know the content of the venue's feed when an incident started; null without a feed. Only if true does a
-- missing notice mean anything.
create function api.was_observed(of_venue smallint, started timestamptz) returns boolean
language plpgsql stable
as $$
begin
  return (
    select exists (
      select from feed_poll r
      where r.feed_id = v.feed_id and r.problem is null
        and r.covers_from <= started and r.until_at >= started - api.feed_silent_after()
    )
    from venue v
    where v.venue_id = of_venue and v.feed_id is not null
  );
end;
$$;

-- The object `official` of a page: the venue's feed, whether its content between two instants is known, and the 50
-- newest notices that started between them, starting with those that are about what we measure and have plausible
-- times.
create function api.official(of_venue smallint, from_at timestamptz, to_at timestamptz) returns json
language sql stable
begin atomic
  select json_build_object(
    'source', v.official_kind,
    'page', v.official_page,
    'observed', exists (select from api.feed_coverage(array[v.feed_id], from_at, to_at)),
    'feed', api.feed_body(f),
    'incidents', (
      select coalesce(json_agg(t.body order by t.started_at desc, t.notice_id desc), '[]')
      from (
        select n.notice_id, n.started_at, api.notice_body(n, null) as body
        from api.notice n
        where n.venue_id = of_venue and n.started_at between from_at and to_at
        order by n.doubtful or n.kind = 'other', n.started_at desc, n.notice_id desc
        limit 50
      ) t
    )
  )
  from venue v
  join api.feed f using (venue_id)
  where v.venue_id = of_venue;
end;
