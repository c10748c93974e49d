import type { NoticeList, FeedSource } from "./feed.js";

/** How one kind of feed is asked and understood. */
export interface FeedKind {
  /** From one request to a host to the next, milliseconds. */
  pauseMs: number;
  documents(source: FeedSource): FeedDocument[];
}

/**
 * What is fetched by one address. Several may be parts of one list, and then have its scope in common; of a notice that
 * is in two, the first holds.
 */
export interface FeedDocument {
  url: string;
  /** Address of a further page, counted from 1; null where there are none. */
  pageUrl: ((page: number) => string) | null;
  /** @param body parsed JSON, of whatever shape */
  takeApart(body: unknown, at: Date): Taken;
  /** What a list that was taken apart, maybe long ago, says at this time; absent where that is always the same. */
  asOf?(list: NoticeList, at: Date): NoticeList;
}

export interface Taken {
  /** One line, of any length, without the document's name; null: all was understood. */
  problem: string | null;
  /** Null where nothing was understood. */
  list: NoticeList | null;
  /** A further page may go on where this one ends. */
  more: boolean;
  /** As of when the document says it is. */
  feedAt: Date | null;
}

/** Nothing of a document was understood. */
export function notUnderstood(problem: string): Taken {
  return { problem, list: null, more: false, feedAt: null };
}
