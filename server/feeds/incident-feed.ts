import type { Fault } from "../../shared/measurement/sample.js";
import type { Category } from "../../shared/registry/registry.js";
import { durationText, exactText, sinceMs } from "../pages/format.js";
import { incidentPageWords } from "../pages/words.js";
import { feedWords } from "./feed-words.js";
import { shown } from "./shown-text.js";

/** The body of `sql/queries/incident_feed.sql`. */
export interface IncidentFeedData {
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
    counted: number | null;
    regions: string[];
  } | null;
  retraction: { at: string; reason: string } | null;
}

/** A feed in no particular format. Texts are plain, and free of what a format forbids. */
export interface IncidentFeed {
  id: string;
  title: string;
  about: string;
  /** The page for people. */
  page: string;
  updatedAt: string;
  entries: FeedEntry[];
}

export interface FeedEntry {
  id: string;
  title: string;
  page: string;
  publishedAt: string;
  updatedAt: string;
  paragraphs: string[];
  tags: string[];
}

export function incidentFeed(data: IncidentFeedData, baseUrl: string): IncidentFeed {
  const { id, venue, updatedAt, entries } = data;
  const name = venue && shown(venue.name);
  return {
    ...{ id: urn(id), updatedAt, title: feedWords.title(name), about: feedWords.about(name) },
    page: venue ? `${baseUrl}/venues/${venue.id}` : `${baseUrl}/`,
    entries: entries.map((entry) => feedEntry(entry, baseUrl)),
  };
}

function urn(uuid: string): string {
  return `urn:uuid:${uuid}`;
}

function feedEntry(entry: EntryData, baseUrl: string): FeedEntry {
  const { id, slug, venue, openedAt, updatedAt, category } = entry;
  return {
    ...{ id: urn(id), publishedAt: openedAt, updatedAt, tags: [venue, category] },
    title: titleOf(entry),
    page: `${baseUrl}/incidents/${slug}`,
    paragraphs: paragraphsOf(entry),
  };
}

function titleOf({ venueName, label, claimed }: EntryData): string {
  const subject = `${shown(venueName)}: ${shown(label)}`;
  if (claimed === null) return feedWords.retracted(subject);
  const { peakSeverity, fault, startedAt, escalatedAt, endedAt } = claimed;
  if (endedAt === null) return `${subject} ${feedWords.now(peakSeverity, fault)}`;
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
          feedWords.withdrawn(exactText(retraction.at)),
          feedWords.reason(retraction.reason && shown(retraction.reason)),
        ];
  const { startedAt, escalatedAt, closedAt, endedAt, counted, regions } = claimed;
  return [
    feedWords.began(exactText(startedAt)),
    counted === null || regions.length === 0
      ? feedWords.opened(exactText(openedAt))
      : feedWords.agreed(regions.length, counted, regions.join(", "), exactText(openedAt)),
    ...(escalatedAt === null ? [] : [feedWords.escalated(exactText(escalatedAt))]),
    ...(closedAt === null || endedAt === null ? [] : [feedWords.closed(exactText(endedAt), exactText(closedAt))]),
    feedWords.evidence,
  ];
}
