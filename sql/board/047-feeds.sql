-- What readers of feeds and calendars get. Nothing here moves with the ticks: a feed that has no news must stay the
-- same bytes, because most of its readers ask in vain.

-- The id of something in a feed: a UUID of version 8, whose content is ours to choose (RFC 9562). The name must never
-- change, so it consists of slugs and row numbers, not of names that an operator may change.
create function api.feed_uuid(of_name text) returns uuid
language sql stable
return (
  select overlay(overlay(md5(f.identity::text || ' ' || of_name) placing '8' from 13) placing 'a' from 17)::uuid
  from feed_identity f
);

-- How long a feed says that an incident was retracted: for longer than a reader who asks at all goes without asking.
create function api.retraction_listed_for()
returns interval language sql immutable parallel safe return interval '30 days';

-- Incidents as entries of a feed, each with the instant of its newest event. A retracted one stays an entry for a
-- while: readers keep what they once got, and only an update of the same entry says that we no longer claim it.
-- It has neither severity nor votes then. Nothing of unpublished venues.
create view api.feed_entry as
select
  i.incident_id,
  i.slug,
  i.started_at,
  v.venue_id,
  greatest(i.opened_at, i.escalated_at, i.closed_at, i.retracted_at) as updated_at,
  json_build_object(
    'id', api.feed_uuid('incident ' || i.slug),
    'slug', i.slug,
    'venue', v.venue,
    'venueName', v.name,
    'category', v.category,
    'label', c.label,
    'openedAt', api.iso(i.opened_at),
    'updatedAt', api.iso(greatest(i.opened_at, i.escalated_at, i.closed_at, i.retracted_at)),
    'claimed', case when i.retracted_at is null then json_build_object(
      'peakSeverity', i.peak_severity,
      'fault', api.main_fault(i.evidence),
      'startedAt', api.iso(i.started_at),
      'escalatedAt', api.iso(i.escalated_at),
      'closedAt', api.iso(i.closed_at),
      -- while it is open, this moves with every tick
      'endedAt', case when i.closed_at is not null then api.iso(i.last_bad_at) end,
      'counted', i.evidence -> 'opening' -> 'counted',
      'regions', (
        select coalesce(json_agg(vote ->> 'region'), '[]')
        from jsonb_array_elements(i.evidence -> 'opening' -> 'votes') vote
        where vote ->> 'vote' in ('degraded', 'outage')
      )
    ) end,
    'retraction', case when i.retracted_at is not null then json_build_object(
      'at', api.iso(i.retracted_at),
      'reason', i.retraction_reason
    ) end
  ) as body
from incident i
join component c using (component_id)
join venue v using (venue_id)
cross join api.clock k
where v.published
  and (i.retracted_at is null or i.retracted_at > k.generated_at - api.retraction_listed_for());

-- The end that a venue planned for a maintenance, from the entry of its feed as it came (notice.raw); null
-- if it gives none, or one that cannot be right. Statuspage and Better Stack write an instant, OKX and Bybit
-- milliseconds, Instatus a duration in minutes. By patterns and not as JSON: the text may have been cut, and PostgreSQL
-- refuses some JSON, which would be an error of the whole calendar. So would an instant be that does not exist: the
-- pattern lets only such through whose cast cannot fail, but for the length of the month. (pg_input_is_valid is of 16.)
create function api.planned_end(entry text, started_at timestamptz) returns timestamptz
language sql stable
return (
  select p.at
  from (
    select
      substring(
        entry from
        '"(?:scheduled_until|ends_at)":"([12]\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d'
        '(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-](?:0\d|1[0-4]):?[0-5]\d))"'
      ) as instant,
      substring(entry from '"end":"(\d{12,14})"') as ms,
      substring(entry from '"duration":"?(\d{1,6})"?[,}]') as minutes
  ) e
  cross join lateral (
    select case
      when substring(e.instant, 9, 2)::int
        <= extract(day from (substring(e.instant, 1, 7) || '-01')::date + interval '1 month - 1 day')
        then e.instant::timestamptz
      when e.ms is not null then to_timestamp(e.ms::float8 / 1000)
      when e.minutes is not null then started_at + e.minutes::int * interval '1 minute'
    end as at
  ) p
  -- a year is no maintenance, but a mistake of the feed
  where p.at > started_at and p.at < started_at + interval '366 days'
);

-- Maintenance that venues announced, as events of a calendar. Only with plausible times, since a calendar shows nothing
-- but times; so without announcements, whose only time is that of their publication. An event has an end only if the
-- venue gave one.
create view api.maintenance as
select
  n.notice_id,
  n.venue_id,
  n.started_at,
  s.is_cancelled,
  s.modified_at,
  json_build_object(
    'id', api.feed_uuid(format('maintenance %s %s', n.venue_id, n.notice_id)),
    'venueName', v.name,
    'title', n.title,
    'url', coalesce(n.url, v.official_page),
    'status', n.status,
    'startsAt', api.iso(n.started_at),
    -- where the venue gives no start, the notice has the reading that saw it first
    'isStartGiven', n.started_at <> n.first_seen_at,
    'endsAt', api.iso(e.ends_at),
    'isEndPlanned', e.ends_at is distinct from n.resolved_at,
    'isCancelled', s.is_cancelled,
    'modifiedAt', api.iso(s.modified_at)
  ) as body
from api.notice n
join venue v using (venue_id)
join notice o using (notice_id)
cross join lateral (
  select case
    when n.resolved_at > n.started_at then n.resolved_at
    when n.resolved_at is null then api.planned_end(o.raw, n.started_at)
  end as ends_at
) e
-- `last_seen_at` also moves when a feed is only written again
cross join lateral (
  select coalesce(max(c.at), n.first_seen_at) as at from notice_change c where c.notice_id = n.notice_id
) c
cross join lateral (
  select
    -- taken down afterwards, it may well have taken place
    lower(n.status) in ('canceled', 'cancelled') or (n.vanished and n.left_at < n.started_at) as is_cancelled,
    greatest(c.at, o.left_at) as modified_at
) s
where n.kind = 'maintenance' and o.scope <> 'announcements' and not n.doubtful and v.published;
