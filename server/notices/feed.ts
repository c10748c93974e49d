/** The content of a venue's own status feed, in one shape for all kinds of feed. */

import type { Official } from "../../shared/registry/registry.js";

export type NoticeKind = "incident" | "maintenance";

/**
 * One notice of a venue. Its texts are not trusted: they are limited in length, have one line and no control
 * characters, and must be escaped where they are shown.
 */
export interface Notice {
  /**
   * The venue's id of the notice, at most 200 characters; null if the feed only shows the present state, without ids
   * (Binance, KuCoin, the status of an Instatus page).
   */
  id: string | null;
  kind: NoticeKind;
  /** At most 500 characters, never empty. */
  title: string;
  /** http(s) only, at most 2,000 characters. */
  url: string | null;
  /** The venue's own word, at most 100 characters. */
  status: string;
  /** The venue's own word, at most 100 characters; null if it gives none. */
  impact: string | null;
  /**
   * The venue's start time, in the years 1 to 9999, maybe in the future. Null: it gives none, and the time at which we
   * first saw the notice is used.
   */
  startedAt: Date | null;
  /** When the venue published it; null: the feed does not contain it. */
  postedAt: Date | null;
  resolvedAt: Date | null;
  /** Whether it has ended: resolved, postmortem, completed or canceled. */
  over: boolean;
  /** Names of the venue's affected components: at most 100 of at most 200 characters each. */
  subjects: string[];
  /** The entry as JSON text, cut after 16,384 characters. */
  raw: string;
}

/** One list of a feed: the whole list or its newest part. */
export interface NoticeList {
  /**
   * The same at each reading of a feed. `now`: the list shows the present state, so an empty one means that there is no
   * notice at this moment. `announcements`: articles about maintenance, which name the time of the work in their text
   * only; their start is their publication, and a calendar leaves them out.
   */
  scope: "incidents" | "maintenances" | "notices" | "announcements" | "now";
  /** Newest first. Ids are unique. */
  notices: Notice[];
  /**
   * The list contains every notice that was posted since then; null: it is unknown how far back it goes. `new Date(0)`:
   * the list is complete.
   */
  listedFrom: Date | null;
}

/** A feed to be read, and the results of its earlier readings. */
export interface FeedSource {
  kind: Exclude<Official["kind"], "html">;
  api: string;
  page: string | null;
  /** When it was last read without a problem; null: never. */
  readAt: Date | null;
  /** The feed's own time at the last reading without a problem; null if it has none. */
  feedAt: Date | null;
}

export interface FeedPoll {
  /**
   * Null: the feed was read and understood completely. Otherwise the problem in one plain line of at most 300
   * characters: what was expected, and what the feed contained.
   */
  problem: string | null;
  /** Whether no document was answered. The fault may then be in our own network. */
  unanswered: boolean;
  /**
   * The lists that were understood, even if there is a problem, with at most 1,000 notices in total. A list that could
   * not be read is missing.
   */
  lists: NoticeList[];
  /** The feed's own time; null if it has none, or if nothing was understood. */
  feedAt: Date | null;
  /**
   * Whether every document was answered "not modified", no notice has ended meanwhile, and the reading at `readAt` had
   * the same content. The lists are filled all the same.
   */
  unchanged: boolean;
  /** For how many milliseconds the feed must not be requested again, at most an hour; 0: the venue named no wait. */
  retryAfterMs: number;
}

export interface FeedReader {
  /**
   * Reads the venue's feed, with pauses between its documents.
   *
   * @param at the time of the reading
   * @throws the signal's reason if it ends the reading; that is not a problem of the venue
   */
  read(source: FeedSource, at: Date, signal: AbortSignal): Promise<FeedPoll>;
  /** The signals of running readings must be aborted first. */
  close: () => Promise<void>;
}
