-- What venues say of themselves, beside what we measured: the state of their feeds, their notices, and which of those began near
-- incidents of ours. Nothing here says that a notice and an incident are about the same fault: nobody can tell.

-- Both began within this of each other, either way: then they may stand side by side.
create function api.paired_within() returns interval language sql immutable parallel safe return interval '6 hours';

-- A feed that nobody has read for so long is not known to be readable, and a gap of so long breaks a run of readings. Feeds are
-- read every minute and a half, and a venue may ask for ten minutes of patience.
create function api.feed_silent_after() returns interval language sql immutable parallel safe return interval '15 minutes';

-- A median of fewer leads than this says more about chance than about the venue.
create function api.least_leads() returns integer language sql immutable parallel safe return 5;

-- Can the venue's feed be read? `readable` or `unreadable`, with what went wrong and since when; `none` where it has no feed that a
-- program can read. Judged here, so that it holds when core is dead. It never moves the venue's own state.
create view api.feed as
select
  v.venue_id,
  v.source_id,
  -- all that Binance's can say is that there is maintenance: an outage could never be admitted there
  v.official_kind <> 'binance-system-status' as tells_incidents,
  f.state,
  case f.state when 'unreadable' then coalesce(r.problem, 'not read since ' || api.iso(r.until_at), 'not read yet') end as problem,
  case
    when f.state = 'none' then null
    when f.state = 'readable' or r.problem is not null then r.from_at
    else coalesce(r.until_at, s.added_at)
  end as since,
  g.read_at
from venue v
cross join api.clock k
left join official_source s using (source_id)
left join lateral (
  select w.* from official_reading w where w.source_id = v.source_id order by w.from_at desc limit 1
) r on true
left join lateral (
  select w.until_at as read_at
  from official_reading w
  where w.source_id = v.source_id and w.problem is null
  order by w.from_at desc
  limit 1
) g on true
cross join lateral (
  select case
    when v.source_id is null then 'none'
    when r.problem is null and r.until_at >= k.generated_at - api.feed_silent_after() then 'readable'
    else 'unreadable'
  end as state
) f
where v.published;

-- The Feed object.
create function api.feed_body(f api.feed) returns json
language sql stable
return json_build_object('state', f.state, 'problem', f.problem, 'since', api.iso(f.since), 'readAt', api.iso(f.read_at));

-- Of which times do we know what a feed had to say? Of those over which it was read, and of what its history reached back to.
create view api.feed_coverage as
select r.source_id, range_agg(tstzrange(r.covers_from, r.until_at, '[]')) as seen
from official_reading r
where r.problem is null
group by r.source_id;

-- The words of the registry as patterns for `like`; none of no words.
create function api.like_any(words text[]) returns text[]
language sql immutable parallel safe
return (
  select coalesce(array_agg('%' || replace(replace(replace(lower(w), '\', '\\'), '%', '\%'), '_', '\_') || '%'), '{}')
  from unnest(words) w
);

-- The notices of each venue. `kind` is incident, maintenance, or other: what is not about anything that we measure (deposits,
-- listings), by the words of the registry. Only incidents can be pairs, and only those whose times can be true.
create view api.notice as
select
  v.venue_id,
  n.notice_id,
  n.external_id,
  n.title,
  n.url,
  case
    when n.kind = 'maintenance' then 'maintenance'
    when lower(n.title) like any (v.not_about) then 'other'
    when cardinality(n.subjects) > 0
      and not exists (select from unnest(n.subjects) s where not lower(s) like any (v.not_about)) then 'other'
    else 'incident'
  end as kind,
  n.status,
  n.impact,
  n.started_at,
  n.posted_at,
  n.resolved_at,
  n.over,
  n.doubtful,
  n.first_seen_at,
  case when n.left_at is null then greatest(n.last_seen_at, v.read_at) else n.last_seen_at end as last_seen_at,
  n.left_at,
  n.vanished
from (
  select
    w.venue_id,
    w.source_id,
    w.official_about is null as about_all,
    api.like_any(w.official_about) as about,
    api.like_any(w.official_not_about) as not_about,
    f.read_at
  from venue w
  join api.feed f using (venue_id)
  -- once a venue, not once a notice
  offset 0
) v
join official_incident n using (source_id)
where v.about_all
  or lower(n.title) like any (v.about)
  or exists (select from unnest(n.subjects) s where lower(s) like any (v.about));

-- Seconds by which we told of an incident before the venue published a notice: negative where the venue was first. From when each
-- was told, not from when each says that it began. Null where the feed does not tell when, or the engine had been away and told late.
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

-- The venue's own notice beside an incident: the one that began nearest to it, if any began near. plpgsql, for its plan is kept: the
-- board shows incidents, and planning this anew each time would cost more than all of it.
create function api.notice_beside(of_venue smallint, of_incident bigint, started timestamptz, opened timestamptz) returns json
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
