/** What a venue's own status feed says, in one shape for all kinds of feed. */

import type { Official } from "../../shared/registry/registry.js";

export type NoticeKind = "incident" | "maintenance";

/**
 * One notice of a venue. Its texts are a stranger's: bounded, on one line, without control characters, and to be
 * escaped where they are shown.
 */
export interface Notice {
  /**
   * Name that the venue gave it, at most 200 characters; null where the feed tells only what holds now, and names
   * nothing (Binance, KuCoin).
   */
  id: string | null;
  kind: NoticeKind;
  /** At most 500 characters, never empty. */
  title: string;
  /** http(s) only, at most 2,000 characters. */
  url: string | null;
  /** The venue's own word, at most 100 characters. */
  status: string;
  /** The venue's own word, at most 100 characters; null where it gives none. */
  impact: string | null;
  /** As the venue says, in the years 1 to 9999, maybe in the future; null: it does not say (since we see it). */
  startedAt: Date | null;
  /** When the venue published it; null: the feed does not tell. */
  postedAt: Date | null;
  resolvedAt: Date | null;
  /** Resolved, postmortem, completed, canceled. */
  over: boolean;
  /** Names of the venue's components it is about: at most 100 of at most 200 characters each. */
  subjects: string[];
  /** The entry as JSON text, cut after 16,384 characters. */
  raw: string;
}

/** One list that a feed keeps, whole or its newest part. */
export interface NoticeList {
  /**
   * The same at each reading of a feed. `now`: what holds at this moment, so that an empty list says that nothing does.
   */
  scope: "incidents" | "maintenances" | "notices" | "now";
  /** Newest first. No id comes twice. */
  notices: Notice[];
  /**
   * Every notice that was posted since then is in it; null: how far back it goes is not known. `new Date(0)`: it is
   * whole.
   */
  listedFrom: Date | null;
}

/** A feed to be read, and what is known of its earlier readings. */
export interface FeedSource {
  kind: Exclude<Official["kind"], "html">;
  api: string;
  page: string | null;
  /** When it was last read well; null: never. */
  readAt: Date | null;
  /** As of when the feed said it was, at the newest good reading; null where it does not say. */
  feedAt: Date | null;
}

export interface FeedPoll {
  /**
   * Null: the feed was read and understood whole. Else what went wrong, one plain line of at most 300 characters: what
   * was expected, what came.
   */
  problem: string | null;
  /** No document of it was answered: that may be our own network's fault. */
  unanswered: boolean;
  /**
   * What was understood, even where there is a problem. At most 1,000 notices in all. A list that could not be read is
   * not among them.
   */
  lists: NoticeList[];
  /** As of when the feed says it is; null where it does not say, or nothing of it was understood. */
  feedAt: Date | null;
  /**
   * Every document was answered "not modified", nothing in it came to its end
   * meanwhile, and what it says was given by the reading that `readAt` names.
   * The lists are given all the same.
   */
  unchanged: boolean;
  /** Not to be asked again for this long, milliseconds, at most an hour; 0: nothing was said. */
  retryAfterMs: number;
}

export interface FeedReader {
  /**
   * Asks the venue, with pauses between its documents.
   *
   * @param at the time of the reading
   * @throws the signal's reason where it ends the reading: that is no problem of the venue's
   */
  read(source: FeedSource, at: Date, signal: AbortSignal): Promise<FeedPoll>;
  /** Readings under way are to be ended by their signals first. */
  close: () => Promise<void>;
}
