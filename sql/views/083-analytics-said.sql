-- For analysts: what the venues said of themselves, and how it compares with what we measured. docs/comparing.md says
-- what counts.

create view analytics.feeds as
select v.venue, f.source_id as feed_id, f.state, f.problem, f.since, f.read_at, f.source_id is not null and f.tells_incidents as tells_incidents
from api.feed f
join venue v using (venue_id);

comment on view analytics.feeds is 'One row a published venue: can its own status feed be read now?';
comment on column analytics.feeds.venue is 'Id of the venue';
comment on column analytics.feeds.feed_id is 'Number of the feed, which several venues may share; null: none';
comment on column analytics.feeds.state is 'readable, unreadable or none';
comment on column analytics.feeds.problem is 'What went wrong; null where it is readable, or there is none';
comment on column analytics.feeds.since is 'Since when it is in that state';
comment on column analytics.feeds.read_at is 'When it was read well last';
comment on column analytics.feeds.tells_incidents is 'False: an outage could not be told there, so nothing is compared';

create view analytics.feed_readings as
select r.source_id as feed_id, r.from_at, r.until_at, r.problem, r.covers_from
from official_reading r;

comment on view analytics.feed_readings is
'When each feed could be read, and when not: one row for each unbroken run of readings that went alike. Kept for 400 days.';
comment on column analytics.feed_readings.feed_id is 'Number of the feed';
comment on column analytics.feed_readings.from_at is 'The first reading of the run';
comment on column analytics.feed_readings.until_at is 'The last one; the next run begins with the next reading';
comment on column analytics.feed_readings.problem is 'What went wrong; null where it was read and understood';
comment on column analytics.feed_readings.covers_from is 'What was posted since then was seen: feeds with a history reach back behind the run; null where it was not read';

create view analytics.feed_entries as
select
  n.notice_id,
  n.source_id as feed_id,
  n.scope,
  n.external_id,
  n.kind,
  n.title,
  n.url,
  n.status,
  n.impact,
  n.started_at,
  n.posted_at,
  n.resolved_at,
  n.over,
  n.subjects,
  n.first_seen_at,
  n.last_seen_at,
  n.left_at,
  n.vanished,
  n.raw
from official_incident n;

comment on view analytics.feed_entries is
'One row an entry of a feed as it came, whatever it is about; view notices has them by venue, and sorted. Kept forever.';
comment on column analytics.feed_entries.notice_id is 'Our number of it';
comment on column analytics.feed_entries.feed_id is 'Number of the feed';
comment on column analytics.feed_entries.scope is 'The list of the feed that it stands in';
comment on column analytics.feed_entries.external_id is 'The name that the venue gave it, `id` in the API; where it gives none, one that we made';
comment on column analytics.feed_entries.kind is 'incident or maintenance, as the feed lists it';
comment on column analytics.feed_entries.title is 'Its title';
comment on column analytics.feed_entries.url is 'Its address; null: none';
comment on column analytics.feed_entries.status is 'The venue''s own word for how it stands';
comment on column analytics.feed_entries.impact is 'The venue''s own word for how bad it is; null: none';
comment on column analytics.feed_entries.started_at is 'When it began by the venue''s clock; where it does not say, when we saw it first';
comment on column analytics.feed_entries.posted_at is
'When it was published; where the feed does not tell, the newest reading that had it not yet; null: not known';
comment on column analytics.feed_entries.resolved_at is 'When it was over by the venue''s clock; null: it does not say';
comment on column analytics.feed_entries.over is 'Nothing more is to come';
comment on column analytics.feed_entries.subjects is 'Names of the venue''s own components';
comment on column analytics.feed_entries.first_seen_at is 'When we saw it first';
comment on column analytics.feed_entries.last_seen_at is 'While it is in the feed, when it was written last; after that, when we saw it last';
comment on column analytics.feed_entries.left_at is 'The first reading that had it no more; null while it is in the feed';
comment on column analytics.feed_entries.vanished is 'It left although the feed reaches back so far, or although it was not over';
comment on column analytics.feed_entries.raw is 'The entry itself, JSON, cut after 16,384 characters';

create view analytics.feed_changes as
select
  h.notice_id,
  h.at,
  h.kind,
  h.status,
  h.impact,
  h.title,
  h.started_at,
  h.resolved_at,
  h.subjects,
  h.vanished
from official_change h;

comment on view analytics.feed_changes is
'How an entry came to be what it is: one row when it was seen first, and one for each reading that showed it otherwise. Kept forever.';
comment on column analytics.feed_changes.notice_id is 'The entry';
comment on column analytics.feed_changes.at is 'The reading';
comment on column analytics.feed_changes.kind is 'As of then: incident or maintenance';
comment on column analytics.feed_changes.status is 'As of then: the venue''s own word for how it stands';
comment on column analytics.feed_changes.impact is 'As of then: the venue''s own word for how bad it is';
comment on column analytics.feed_changes.title is 'As of then: its title';
comment on column analytics.feed_changes.started_at is 'As of then: when it began';
comment on column analytics.feed_changes.resolved_at is 'As of then: when it was over';
comment on column analytics.feed_changes.subjects is 'As of then: names of the venue''s own components';
comment on column analytics.feed_changes.vanished is 'As of then: whether it had been taken down';

create view analytics.notices as
select
  v.venue,
  n.notice_id,
  n.external_id,
  n.title,
  n.url,
  n.kind,
  n.status,
  n.impact,
  n.started_at,
  n.posted_at,
  n.resolved_at,
  n.over,
  n.doubtful,
  n.first_seen_at,
  n.last_seen_at,
  n.left_at,
  n.vanished
from api.notice n
join venue v using (venue_id);

comment on view analytics.notices is
'What published venues said of themselves: one row for a notice and a venue that it is about, as the API shows it. Kept forever.';
comment on column analytics.notices.venue is 'Id of the venue';
comment on column analytics.notices.notice_id is 'Our number of it; one notice may be about several venues';
comment on column analytics.notices.external_id is 'The name that the venue gave it, `id` in the API';
comment on column analytics.notices.title is 'Its title';
comment on column analytics.notices.url is 'Its address; null: none';
comment on column analytics.notices.kind is 'incident, maintenance, or other: about nothing that we measure';
comment on column analytics.notices.status is 'The venue''s own word for how it stands';
comment on column analytics.notices.impact is 'The venue''s own word for how bad it is; null: none';
comment on column analytics.notices.started_at is 'When it began by the venue''s clock; where it does not say, when we saw it first';
comment on column analytics.notices.posted_at is
'When it was published; where the feed does not tell, the newest reading that had it not yet; null: not known';
comment on column analytics.notices.resolved_at is 'When it was over by the venue''s clock; null: it does not say';
comment on column analytics.notices.over is 'Nothing more is to come';
comment on column analytics.notices.doubtful is 'Its times cannot be true, and it is compared with nothing';
comment on column analytics.notices.first_seen_at is 'When we saw it first';
comment on column analytics.notices.last_seen_at is 'When we saw it last';
comment on column analytics.notices.left_at is 'The first reading that had it no more; null while it is in the feed';
comment on column analytics.notices.vanished is 'It was taken down: it left although the feed reaches back so far, or although it was not over';

-- As /v1/detection compares: by api.compared, with a day more at either end, so that what stands at an edge finds its
-- own. Of the rights that it needs analysts have none, so it has them itself (roles.sql): it reads, and gives nothing
-- that the view does not.
create function analytics.pairings_between(from_at timestamptz, to_at timestamptz)
returns table (
  venue                text,
  slug                 text,
  component            text,
  incident_started_at  timestamptz,
  incident_opened_at   timestamptz,
  notice_id            bigint,
  notice_kind          text,
  notice_started_at    timestamptz,
  notice_posted_at     timestamptz,
  near                 boolean,
  pairable             boolean,
  compared             boolean,
  ahead_s              integer
)
language sql stable security definer
set search_path = venuewatch, pg_temp
begin atomic
  select
    v.venue,
    i.slug,
    c.component,
    i.started_at,
    i.opened_at,
    p.notice_id,
    p.kind,
    p.notice_started_at,
    n.posted_at,
    p.near,
    p.pairable,
    p.compared,
    p.ahead_seconds
  from api.clock k
  cross join lateral api.compared(
    from_at - interval '1 day',
    least(to_at + interval '1 day', k.generated_at),
    array(select v.venue_id from venue v where v.published)
  ) p
  join venue v using (venue_id)
  left join incident i using (incident_id)
  left join component c using (component_id)
  left join official_incident n using (notice_id)
  where p.started_at >= from_at and p.started_at < to_at;
end;

comment on function analytics.pairings_between(timestamptz, timestamptz) is
'Rows of view pairings that began from from_at until before to_at, a pair when its incident did. Quicker than the view, which compares all that is kept.';

create view analytics.pairings as
select p.*
from analytics.pairings_between('-infinity', 'infinity') p;

comment on view analytics.pairings is
'Our incidents beside the venues'' own notices: one row a pair (each the nearest of the other, within six hours), and one for each incident and each '
'notice that has none. Of published venues whose feeds tell of incidents, without what was retracted. Nobody tested that a pair is about the same fault.';
comment on column analytics.pairings.venue is 'Id of the venue';
comment on column analytics.pairings.slug is 'Our incident; null: a notice alone';
comment on column analytics.pairings.component is 'Its component; null: a notice alone';
comment on column analytics.pairings.incident_started_at is 'When our incident began; null: a notice alone';
comment on column analytics.pairings.incident_opened_at is 'When we told of it; null: a notice alone';
comment on column analytics.pairings.notice_id is 'The venue''s notice; null: an incident alone';
comment on column analytics.pairings.notice_kind is 'incident, maintenance, or other; null: an incident alone';
comment on column analytics.pairings.notice_started_at is 'When the notice says that it began; null: an incident alone';
comment on column analytics.pairings.notice_posted_at is 'When it was published; null: not known, or an incident alone';
comment on column analytics.pairings.near is 'The other side has something within six hours, be it the pair of another';
comment on column analytics.pairings.pairable is 'A notice that can be a pair: of kind incident, with times that can be true; false of an incident alone';
comment on column analytics.pairings.compared is 'It counts on /v1/detection: the other side could be seen then, and its six hours are over';
comment on column analytics.pairings.ahead_s is
'A pair: seconds by which we told of it before the venue published it, negative where the venue was first; null: not known, or no pair';
