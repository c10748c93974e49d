/** Pauses of deposits and withdrawals as a feed. */
import type { Category } from "../../../shared/registry/registry.js";
import { durationText, exactText, sinceMs } from "../pages/format.js";
import { feedText } from "./feed-text.js";
import { type Feed, type FeedEntry, type FeedSite, uuidUrn } from "./feed-xml.js";

/** The body of `sql/board/transfer_feed.sql`. */
export interface TransferFeedData {
  id: string;
  venue: { id: string; name: string } | null;
  updatedAt: string;
  entries: PauseData[];
}

interface PauseData {
  id: string;
  venue: string;
  venueName: string;
  category: Category;
  asset: string;
  /** Its name, or the venue's word for it. */
  network: string | null;
  direction: "deposit" | "withdrawal";
  startedAt: string;
  /** Null while it lasts. */
  endedAt: string | null;
  because: string | null;
}

export function transferFeed({ id, venue, updatedAt, entries }: TransferFeedData, site: FeedSite): Feed {
  const { baseUrl } = site;
  const name = venue && feedText(venue.name);
  return {
    ...{ id: uuidUrn(id), updatedAt, title: `${site.name}: paused transfers of ${name ?? "all venues"}` },
    author: site.name,
    about: `When ${name ?? "a venue"} declares deposits or withdrawals paused, and open again. We do not measure it. A pause is one entry.`,
    page: venue ? pageOf(venue.id, baseUrl) : `${baseUrl}/transfers`,
    entries: entries.map((entry) => entryOf(entry, baseUrl)),
  };
}

function pageOf(venue: string, baseUrl: string): string {
  return `${baseUrl}/venues/${venue}#transfers`;
}

function entryOf(pause: PauseData, baseUrl: string): FeedEntry {
  const { id, venue, venueName, category, asset, network, direction, startedAt, endedAt, because } = pause;
  const where = network === null ? "" : ` on ${feedText(network)}`;
  const what = `${feedText(venueName)}: ${direction}s of ${feedText(asset)}${where}`;
  return {
    ...{ id: uuidUrn(id), publishedAt: startedAt, updatedAt: endedAt ?? startedAt, page: pageOf(venue, baseUrl) },
    title:
      endedAt === null ? `${what} are paused` : `${what} were paused for ${durationText(sinceMs(startedAt, endedAt))}`,
    paragraphs: [
      `We read the pause in the venue's list for the first time at ${exactText(startedAt)}.`,
      ...(endedAt === null ? [] : [`The list says open again since ${exactText(endedAt)}.`]),
      ...(because === null ? [] : [`The venue's words: ${feedText(because)}`]),
      "This is what the venue declares. We do not measure it.",
    ],
    tags: [venue, category, asset, direction],
  };
}
