-- For analysts: the venues' official notices, and how they compare with what we measured. docs/comparing.md says what
-- counts.

create view analytics.feeds as
select
  v.venue,
  f.feed_id as feed_id,
  f.state,
  f.problem,
  f.since,
  f.read_at,
  f.feed_id is not null and f.tells_incidents as tells_incidents
from api.feed f
join venue v using (venue_id);

comment on view analytics.feeds is 'One row per published venue: can its status feed be read now?';
comment on column analytics.feeds.venue is 'Venue id';
comment on column analytics.feeds.feed_id is 'Feed number, which several venues may share; null: none';
comment on column analytics.feeds.state is 'readable, unreadable or none';
comment on column analytics.feeds.problem is 'What went wrong; null if readable, or without a feed';
comment on column analytics.feeds.since is 'Start of that state';
comment on column analytics.feeds.read_at is 'Last successful reading';
comment on column analytics.feeds.tells_incidents is 'False: the feed cannot report an outage, so nothing is compared';

create view analytics.feed_readings as
select r.feed_id as feed_id, r.from_at, r.until_at, r.problem, r.covers_from
from feed_poll r;

comment on view analytics.feed_readings is
'When each feed could be read and when not: one row per unbroken run of readings with the same outcome. Kept for 400 '
'days.';
comment on column analytics.feed_readings.feed_id is 'Feed number';
comment on column analytics.feed_readings.from_at is 'First reading of the run';
comment on column analytics.feed_readings.until_at is
'Last reading of the run; the next run starts with the next reading';
comment on column analytics.feed_readings.problem is 'What went wrong; null if it was read and understood';
comment on column analytics.feed_readings.covers_from is
'Everything posted since then was seen: feeds with a history reach back before the run; null if it was not read';

create view analytics.feed_entries as
select
  n.notice_id,
  n.feed_id as feed_id,
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
from notice n;

comment on view analytics.feed_entries is
'One row per entry of a feed as it came, whatever its subject; view notices has them by venue and classified. Kept '
'forever.';
comment on column analytics.feed_entries.notice_id is 'Our number for it';
comment on column analytics.feed_entries.feed_id is 'Feed number';
comment on column analytics.feed_entries.scope is 'List of the feed that contains it';
comment on column analytics.feed_entries.external_id is
'Id given by the venue, `id` in the API; if it gives none, one that we made';
comment on column analytics.feed_entries.kind is 'incident or maintenance, as the feed lists it';
comment on column analytics.feed_entries.title is 'Title';
comment on column analytics.feed_entries.url is 'URL; null: none';
comment on column analytics.feed_entries.status is 'Status, in the venue''s words';
comment on column analytics.feed_entries.impact is 'Impact, in the venue''s words; null: none';
comment on column analytics.feed_entries.started_at is
'Start according to the venue; if it gives none, when we first saw it';
comment on column analytics.feed_entries.posted_at is
'Publication time; if the feed gives none, the last reading before it appeared; null: unknown';
comment on column analytics.feed_entries.resolved_at is 'End according to the venue; null: not stated';
comment on column analytics.feed_entries.over is 'True: no more updates are expected';
comment on column analytics.feed_entries.subjects is 'Names of the venue''s own components';
comment on column analytics.feed_entries.first_seen_at is 'When we first saw it';
comment on column analytics.feed_entries.last_seen_at is
'While it is in the feed, when it was last written; afterwards, when we last saw it';
comment on column analytics.feed_entries.left_at is 'First reading without it; null while it is in the feed';
comment on column analytics.feed_entries.vanished is
'True: it left although the feed reaches back that far, or although it was not over';
comment on column analytics.feed_entries.raw is 'The entry itself, JSON, truncated to 16,384 characters';

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
from notice_change h;

comment on view analytics.feed_changes is
'History of feed entries: one row when an entry was first seen, and one per reading that changed it. Kept forever.';
comment on column analytics.feed_changes.notice_id is 'Number of the entry in feed_entries';
comment on column analytics.feed_changes.at is 'Time of the reading';
comment on column analytics.feed_changes.kind is 'Then: incident or maintenance';
comment on column analytics.feed_changes.status is 'Then: status, in the venue''s words';
comment on column analytics.feed_changes.impact is 'Then: impact, in the venue''s words';
comment on column analytics.feed_changes.title is 'Then: title';
comment on column analytics.feed_changes.started_at is 'Then: start';
comment on column analytics.feed_changes.resolved_at is 'Then: end';
comment on column analytics.feed_changes.subjects is 'Then: names of the venue''s own components';
comment on column analytics.feed_changes.vanished is 'Then: whether it had been taken down';

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
'Official notices of published venues: one row per notice and venue that it is about, as in the API. Kept forever.';
comment on column analytics.notices.venue is 'Venue id';
comment on column analytics.notices.notice_id is 'Our number for it; one notice may be about several venues';
comment on column analytics.notices.external_id is 'Id given by the venue, `id` in the API';
comment on column analytics.notices.title is 'Title';
comment on column analytics.notices.url is 'URL; null: none';
comment on column analytics.notices.kind is 'incident, maintenance, or other: about nothing that we measure';
comment on column analytics.notices.status is 'Status, in the venue''s words';
comment on column analytics.notices.impact is 'Impact, in the venue''s words; null: none';
comment on column analytics.notices.started_at is
'Start according to the venue; if it gives none, when we first saw it';
comment on column analytics.notices.posted_at is
'Publication time; if the feed gives none, the last reading before it appeared; null: unknown';
comment on column analytics.notices.resolved_at is 'End according to the venue; null: not stated';
comment on column analytics.notices.over is 'True: no more updates are expected';
comment on column analytics.notices.doubtful is 'True: its times cannot be true, so it is compared with nothing';
comment on column analytics.notices.first_seen_at is 'When we first saw it';
comment on column analytics.notices.last_seen_at is 'When we last saw it';
comment on column analytics.notices.left_at is 'First reading without it; null while it is in the feed';
comment on column analytics.notices.vanished is
'True: taken down. It left although the feed reaches back that far, or although it was not over';

-- Compares as /v1/detection does, by api.compared, with a day more at either end, so that incidents and notices at the
-- edges find their pairs. It needs rights that analysts lack, so it is `security definer` (roles.sql): it only reads,
-- and returns nothing that the view does not show.
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
  left join notice n using (notice_id)
  where p.started_at >= from_at and p.started_at < to_at;
end;

comment on function analytics.pairings_between(timestamptz, timestamptz) is
'Rows of view pairings that started from from_at until before to_at; a pair starts with its incident. Faster than the '
'view, which compares everything that is kept.';

create view analytics.pairings as
select p.*
from analytics.pairings_between('-infinity', 'infinity') p;

comment on view analytics.pairings is
'Our incidents beside the venues'' official notices: one row per pair (each the nearest of the other, within six '
'hours), and one per incident or notice without a pair. Covers published venues whose feeds report incidents; '
'excludes retracted incidents. Nobody verified that a pair is about the same fault.';
comment on column analytics.pairings.venue is 'Venue id';
comment on column analytics.pairings.slug is 'Slug of our incident; null: a notice alone';
comment on column analytics.pairings.component is 'rest:NAME, ws:NAME, or ws:conn for the socket; null: a notice alone';
comment on column analytics.pairings.incident_started_at is 'When our incident started; null: a notice alone';
comment on column analytics.pairings.incident_opened_at is 'When we published it; null: a notice alone';
comment on column analytics.pairings.notice_id is 'Number of the venue''s notice; null: an incident alone';
comment on column analytics.pairings.notice_kind is 'incident, maintenance, or other; null: an incident alone';
comment on column analytics.pairings.notice_started_at is 'Start according to the notice; null: an incident alone';
comment on column analytics.pairings.notice_posted_at is
'Publication time of the notice; null: unknown, or an incident alone';
comment on column analytics.pairings.near is
'True: the other side has something within six hours, even if that is paired with another';
comment on column analytics.pairings.pairable is
'True: a notice that can be paired, of kind incident and with plausible times; false for an incident alone';
comment on column analytics.pairings.compared is
'True: it counts on /v1/detection, because the other side could be observed then and its six hours are over';
comment on column analytics.pairings.ahead_s is
'For a pair: seconds by which we published before the venue, negative if the venue was first; null: unknown, or no '
'pair';

create view analytics.maintenance_windows as
select
  v.venue,
  w.title,
  w.url,
  w.announced_at,
  w.from_at,
  w.until_at,
  w.over_at
from api.maintenance_window w
join venue v using (venue_id);

comment on view analytics.maintenance_windows is
'One row per maintenance that a venue announced before it began, and that stands beside incidents: at most 24 hours '
'long, of plausible times, about what we measure, and not called off. A maintenance of a feed that several venues '
'share has a row for each.';
comment on column analytics.maintenance_windows.venue is 'Venue id';
comment on column analytics.maintenance_windows.title is 'Title, by the venue';
comment on column analytics.maintenance_windows.url is 'The venue''s page about it; null: none';
comment on column analytics.maintenance_windows.announced_at is
'First reading of the feed that saw this start; the start had not come yet';
comment on column analytics.maintenance_windows.from_at is 'Start of the window, by the venue';
comment on column analytics.maintenance_windows.until_at is 'End as announced before it came; null: not stated';
comment on column analytics.maintenance_windows.over_at is
'When the window ends: at the announced end, or earlier by the venue''s own word; without an end, a day after its '
'start at the latest';
