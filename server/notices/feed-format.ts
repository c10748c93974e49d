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
  /** Present if the address is that of a WebSocket. */
  pushed?: PushedDocument;
  /** @param body parsed JSON of any shape; of a pushed document, the list of its frames */
  takeApart(body: unknown, at: Date): Taken;
  /** The meaning at this time of a list that was parsed earlier; absent if it does not depend on the time. */
  asOf?(list: NoticeList, at: Date): NoticeList;
}

/** A document that a server pushes over a WebSocket when it is asked for. */
export interface PushedDocument {
  /** The message that asks for it. */
  request(at: Date): string;
  /** Whether this frame is the last one of the document. Without such a frame it ends when the server falls silent. */
  isLast(frame: string): boolean;
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
