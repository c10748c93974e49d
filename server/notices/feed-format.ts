import type { NoticeList, FeedSource } from "./feed.js";

/** How one kind of feed is requested and parsed. */
export interface FeedFormat {
  /** Milliseconds from one request to a host to the next. */
  pauseMs: number;
  documents(source: FeedSource): FeedDocument[];
}

/**
 * A document at one address. Several documents may be parts of one list; they then have the same scope. If a notice is
 * in two of them, the first one counts.
 */
export interface FeedDocument {
  url: string;
  /** Address of a further page, counted from 1; null if there are no pages. */
  pageUrl: ((page: number) => string) | null;
  /** @param body parsed JSON of any shape */
  takeApart(body: unknown, at: Date): Taken;
  /** The meaning at this time of a list that was parsed earlier; absent if it does not depend on the time. */
  asOf?(list: NoticeList, at: Date): NoticeList;
}

export interface Taken {
  /** One line of any length, without the document's name; null: everything was understood. */
  problem: string | null;
  /** Null if nothing was understood. */
  list: NoticeList | null;
  /** Whether a further page may continue this one. */
  more: boolean;
  /** The document's own time. */
  feedAt: Date | null;
}

/** Nothing of a document was understood. */
export function notUnderstood(problem: string): Taken {
  return { problem, list: null, more: false, feedAt: null };
}
