/** Feeds of incidents and of paused transfers, and calendars of announced maintenance: for all venues, and for each. */
import type { RequestHandler } from "express";
import { ownBrand } from "../../../shared/config/brand.js";
import type { Fault } from "../../../shared/measurement/sample.js";
import type { Category } from "../../../shared/registry/registry.js";
import { answerBody, dataCache } from "../api/answer.js";
import { bytes, type Schema } from "../api/shapes.js";
import type { Site } from "../api/site.js";
import { noSuchVenue, venueFinder } from "../api/venue-ids.js";
import type { AnnouncedMaintenance } from "../board/maintenance.js";
import { makeDerived, type Snapshots } from "../board/snapshot.js";
import { durationText, exactText, sinceMs } from "../pages/format.js";
import { incidentPageWords, verbOf } from "../pages/words.js";
import { feedText } from "./feed-text.js";
import { atomText, type Feed, type FeedEntry, type FeedSite, rssText, uuidUrn } from "./feed-xml.js";
import { type CalendarData, calendarText } from "./maintenance-calendar.js";
import { transferFeed, type TransferFeedData } from "./transfer-feed.js";

type FeedOptions = Pick<Site, "registry" | "baseUrl" | "brand">;
type VenueFeedRoute = RequestHandler<{ venue?: string }>;

/** Returns the routes by path. Each answers a former id of a venue as its present one. */
export function feedRoutes(
  { registry, baseUrl, brand = ownBrand }: FeedOptions,
  snapshots: Snapshots,
): [string, VenueFeedRoute][] {
  const site = { baseUrl, name: feedText(brand.name) };
  const rendered = makeDerived(mostBytes);
  const venueOf = venueFinder(registry);

  function feedRoute({ file, statement, most, mediaType, write }: FeedFormat): VenueFeedRoute {
    return async ({ params }, response) => {
      const venue = params.venue === undefined ? null : venueOf(params.venue);
      const snapshot = await snapshots(statement, [venue], [venue, most], heldMs);
      // all venues together always have a body
      if (snapshot === null) throw noSuchVenue(venue!);
      const path = pathOf(venue, file);
      const body = rendered(path, [snapshot], () =>
        write(JSON.parse(snapshot.body.plain.toString()), site, `${baseUrl}${path}`),
      );
      await answerBody(response, body, `${mediaType}; charset=utf-8`, dataCache);
    };
  }

  return feedFormats.flatMap((format): [string, VenueFeedRoute][] => {
    const route = feedRoute(format);
    return [null, ":venue"].map((venue) => [pathOf(venue, format.file), route]);
  });
}

/** Readers ask every few minutes at most. News of incidents is never held back: a body is dropped when one moves. */
const heldMs = 30_000;

/** Room for all feeds of two hundred venues. */
const mostBytes = 16_000_000;

function pathOf(venue: string | null, file: string): string {
  return venue === null ? `/feeds/${file}` : `/feeds/${venue}/${file}`;
}

/** The feeds of all venues, and those of each. */
export function feedOperations(venue: Schema<string>) {
  const shared = { group: "feeds" as const, cache: [dataCache], asksDatabase: true, limited: true };
  return feedFormats.flatMap(({ id, file, summary, description, mediaType, answer }) => {
    const described = { description, answers: { [mediaType]: answer } };
    return [
      { ...shared, id: `get${id}`, path: pathOf(null, file), summary: `${summary}: all venues`, ...described },
      {
        ...shared,
        id: `getVenue${id}`,
        path: pathOf("{venue}", file),
        summary: `${summary}: one venue`,
        names: { venue },
        ...described,
      },
    ];
  });
}

interface FeedFormat {
  /** Name within an operation's id. */
  id: string;
  file: string;
  mediaType: string;
  /** The statement that yields the data, and the number of rows that it takes at most. */
  statement: string;
  most: number;
  /** @param self address of the feed itself */
  write: (data: unknown, site: FeedSite, self: string) => string;
  summary: string;
  description: string;
  answer: Schema;
}

const incidentFeeds = {
  statement: "incident_feed",
  most: 50,
  description:
    "At most 50 incidents, the newest event first. An incident is one entry with a permanent id, which is updated when it escalates, closes or is retracted; a retraction is listed for thirty days.",
};

const transferFeeds = {
  statement: "transfer_feed",
  most: 50,
  description:
    "At most 50 pauses that began in the last ninety days, as the venues declare them, the newest news first. A pause is one entry with a permanent id, which is updated when the venue declares the asset open again.",
};

const feedFormats: readonly FeedFormat[] = [
  {
    id: "IncidentsAtom",
    file: "incidents.atom",
    mediaType: "application/atom+xml",
    ...incidentFeeds,
    write: (data, site, self) => atomText(incidentFeed(data as IncidentFeedData, site), self),
    summary: "Incidents, as Atom",
    answer: bytes(
      "An Atom 1.0 document (RFC 4287). It changes only with its entries.",
      `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en"><id>urn:uuid:6f1d0c2b-9a4e-8c1f-a5e0-1d2c3b4a5f6e</id>…</feed>
`,
    ),
  },
  {
    id: "IncidentsRss",
    file: "incidents.rss",
    mediaType: "application/rss+xml",
    ...incidentFeeds,
    write: (data, site, self) => rssText(incidentFeed(data as IncidentFeedData, site), self),
    summary: "Incidents, as RSS",
    answer: bytes(
      "An RSS 2.0 document. It changes only with its items.",
      `<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0"><channel><title>venuewatch: incidents of all venues</title>…</channel></rss>
`,
    ),
  },
  {
    id: "TransfersAtom",
    file: "transfers.atom",
    mediaType: "application/atom+xml",
    ...transferFeeds,
    write: (data, site, self) => atomText(transferFeed(data as TransferFeedData, site), self),
    summary: "Pauses of deposits and withdrawals, as Atom",
    answer: bytes(
      "An Atom 1.0 document (RFC 4287). It changes only with its entries.",
      `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en"><id>urn:uuid:0b1c7d52-3e4f-8a6b-a7c8-9d0e1f2a3b4c</id>…</feed>
`,
    ),
  },
  {
    id: "TransfersRss",
    file: "transfers.rss",
    mediaType: "application/rss+xml",
    ...transferFeeds,
    write: (data, site, self) => rssText(transferFeed(data as TransferFeedData, site), self),
    summary: "Pauses of deposits and withdrawals, as RSS",
    answer: bytes(
      "An RSS 2.0 document. It changes only with its items.",
      `<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0"><channel><title>venuewatch: paused transfers of all venues</title>…</channel></rss>
`,
    ),
  },
  {
    id: "MaintenanceCalendar",
    file: "maintenance.ics",
    mediaType: "text/calendar",
    statement: "maintenance_calendar",
    most: 200,
    write: (data) => calendarText(data as CalendarData),
    summary: "Maintenance that venues announced, as a calendar",
    description:
      "What venues announce in their own feeds: the last ninety days, under way, and to come; at most 200 events.",
    answer: bytes(
      "An iCalendar object (RFC 5545). An event has DTEND only if the venue gave an end; its description says whether that is a plan.",
      "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n…\r\nEND:VCALENDAR\r\n",
    ),
  },
];

/** The body of `sql/board/incident_feed.sql`. */
interface IncidentFeedData {
  id: string;
  venue: { id: string; name: string } | null;
  updatedAt: string;
  entries: EntryData[];
}

/** View api.feed_entry. */
interface EntryData {
  id: string;
  slug: string;
  venue: string;
  venueName: string;
  category: Category;
  label: string;
  openedAt: string;
  updatedAt: string;
  /** Null once it is retracted. */
  claimed: {
    peakSeverity: "degraded" | "outage";
    fault: Fault | null;
    startedAt: string;
    escalatedAt: string | null;
    closedAt: string | null;
    endedAt: string | null;
    maintenance: AnnouncedMaintenance | null;
    counted: number | null;
    regions: string[];
  } | null;
  retraction: { at: string; reason: string } | null;
}

function incidentFeed(data: IncidentFeedData, site: FeedSite): Feed {
  const { baseUrl } = site;
  const { id, venue, updatedAt, entries } = data;
  const name = venue && feedText(venue.name);
  return {
    ...{
      id: uuidUrn(id),
      updatedAt,
      title: `${site.name}: incidents of ${name ?? "all venues"}`,
      author: site.name,
      about: aboutText(name),
    },
    page: venue ? `${baseUrl}/venues/${venue.id}` : `${baseUrl}/`,
    entries: entries.map((entry) => feedEntry(entry, baseUrl)),
  };
}

function feedEntry(entry: EntryData, baseUrl: string): FeedEntry {
  const { id, slug, venue, openedAt, updatedAt, category } = entry;
  return {
    ...{ id: uuidUrn(id), publishedAt: openedAt, updatedAt, tags: [venue, category] },
    title: titleOf(entry),
    page: `${baseUrl}/incidents/${slug}`,
    paragraphs: paragraphsOf(entry),
  };
}

function titleOf({ venueName, label, claimed }: EntryData): string {
  const subject = `${feedText(venueName)}: ${feedText(label)}`;
  if (claimed === null) return `Retracted: ${subject}`;
  const { peakSeverity, fault, startedAt, escalatedAt, endedAt } = claimed;
  if (endedAt === null)
    return `${subject} ${verbOf(fault)?.does ?? { outage: "is failing", degraded: "is degraded" }[peakSeverity]}`;
  // what was an outage for a part of its time only was not down for all of it
  const kind = peakSeverity === "degraded" ? "degraded" : escalatedAt === null ? "down" : "failing";
  return `${subject} ${incidentPageWords.was(kind, fault, durationText(sinceMs(startedAt, endedAt)))}`;
}

/** Only what stays true: while an incident is open, its feed must not change with every tick. */
function paragraphsOf({ openedAt, claimed, retraction }: EntryData): string[] {
  if (claimed === null)
    return retraction === null
      ? []
      : [
          `We retracted this incident at ${exactText(retraction.at)}: we no longer claim that it happened.`,
          `The reason: ${retraction.reason && feedText(retraction.reason)}`,
        ];
  const { startedAt, escalatedAt, closedAt, endedAt, maintenance, counted, regions } = claimed;
  return [
    `Trouble began at ${exactText(startedAt)}.`,
    ...(maintenance === null ? [] : [announcedText(maintenance)]),
    counted === null || regions.length === 0
      ? `We opened the incident at ${exactText(openedAt)}. No votes are on record.`
      : `${regions.length} of ${counted} ${counted === 1 ? "region" : "regions"} with a vote agreed at ${exactText(openedAt)}: ${regions.join(", ")}.`,
    ...(escalatedAt === null ? [] : [`It became an outage at ${exactText(escalatedAt)}.`]),
    ...(closedAt === null || endedAt === null
      ? []
      : [`A quorum last saw the trouble at ${exactText(endedAt)}. We closed the incident at ${exactText(closedAt)}.`]),
    "The page of the incident has the votes of the regions and the failed samples.",
  ];
}

function announcedText({ title, from, until, overran }: AnnouncedMaintenance): string {
  const end = until === null ? "with no stated end" : `until ${exactText(until)}`;
  return `The venue had announced maintenance from ${exactText(from)} ${end}: ${feedText(title)}.${overran ? " The incident outlasted it." : ""}`;
}

function aboutText(venue: string | null): string {
  return `When ${venue ?? "a venue"} fails, is degraded or limits our requests, as a quorum of our regions measures it. An incident is one entry, which is updated when it escalates, closes or is retracted.`;
}
