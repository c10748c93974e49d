import { verbOf } from "../pages/words.js";
import type { Fault } from "../../shared/measurement/sample.js";
import type { Category } from "../../shared/registry/registry.js";
import { durationText, exactText, sinceMs } from "../pages/format.js";
import { incidentPageWords } from "../pages/words.js";

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
    ...{
      id: urn(id),
      updatedAt,
      title: name === null ? "venuewatch: incidents of all venues" : `venuewatch: incidents of ${name}`,
      about: aboutText(name),
    },
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
          `The reason: ${retraction.reason && shown(retraction.reason)}`,
        ];
  const { startedAt, escalatedAt, closedAt, endedAt, counted, regions } = claimed;
  return [
    `Trouble began at ${exactText(startedAt)}.`,
    counted === null || regions.length === 0
      ? `We opened the incident at ${exactText(openedAt)}. No votes are on record.`
      : `${regions.length} of ${counted} ${counted === 1 ? "region" : "regions"} with a vote agreed at ${exactText(openedAt)}: ${regions.join(", ")}.`,
    ...(escalatedAt === null ? [] : [`It became an outage at ${exactText(escalatedAt)}.`]),
    ...(closedAt === null || endedAt === null
      ? []
      : [
          `Enough regions saw the trouble for the last time at ${exactText(endedAt)}. We closed the incident at ${exactText(closedAt)}.`,
        ]),
    "The page of the incident has the votes of the regions and the failed samples.",
  ];
}

function aboutText(venue: string | null): string {
  return `When ${venue ?? "a venue"} fails, is degraded or limits our requests, as a quorum of our regions measures it. An incident is one entry, which is updated when it escalates, closes or is retracted.`;
}
