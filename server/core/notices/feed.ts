/** The content of a venue's own status feed, in one shape for all kinds of feed. */
import type { Official } from "../../../shared/registry/registry.js";
import { type FaultOf, mismatch, shownValue } from "./expected-shape.js";

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
  /** When the venue plans to end a maintenance, as far as it says so; not checked for plausibility. */
  plannedEndAt: Date | null;
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

/** Copies of a document on several servers differ by some minutes; so do clocks. */
const toleratedMs = 10 * 60_000;

/** Before that there was nothing to report on (Bitcoin's first block): an earlier time is zero, or in another unit. */
const earliestMs = Date.UTC(2009, 0, 3);

/** Whether a notice that was read at this time can have been posted then. */
export function canBePosted(ms: number, at: Date): boolean {
  return ms >= earliestMs && ms <= +at + toleratedMs;
}

/**
 * The problem with a feed's own time; null if there is none. The list of a feed with such a problem is not used.
 *
 * A feed that is older than at the last reading is a stale copy, or another feed. A feed from the future would make
 * every later reading appear to go back in time.
 */
export function feedTimeProblem(feedAt: Date, { feedAt: before }: FeedSource, at: Date): string | null {
  if (before !== null && +before - +feedAt > toleratedMs)
    return `went back in time: its time is ${feedAt.toISOString()}, and was ${before.toISOString()} before`;
  if (+feedAt - +at > toleratedMs) return `its time is ${feedAt.toISOString()}, which is in the future`;
  return null;
}

/** No feed has so many. A body with millions would block the whole program for seconds. */
const mostEntries = 20_000;

export interface Entries<Entry> {
  good: Entry[];
  /** Null: all entries are valid. */
  problem: string | null;
}

/**
 * Takes the valid entries of a list. An invalid entry does not invalidate the others; neither do entries beyond the
 * limit, which are not examined.
 *
 * @param place path of the list, such as `incidents`
 * @param faultOf if it finds no fault, the value is an `Entry`
 */
export function partitionValid<Entry>(values: unknown[], place: string, faultOf: FaultOf): Entries<Entry> {
  const good: Entry[] = [];
  let first: string | null = null;
  let bad = 0;
  for (const [index, value] of values.slice(0, mostEntries).entries()) {
    const fault = faultOf(value, `${place}[${index}]`);
    if (fault === null) good.push(value as Entry);
    else bad += 1;
    first ??= fault;
  }
  const more = bad > 1 ? `; and ${bad - 1} more` : "";
  const problem = first === null ? null : first + more;
  return { good, problem: tooMany(values.length, place) ?? problem };
}

function tooMany(count: number, place: string): string | null {
  if (count <= mostEntries) return null;
  return mismatch(place, `at most ${mostEntries} entries`, String(count));
}

/** APIs of venues also report errors with status 200: by a code and a message in the body. */
export function errorAnswer(code: unknown, message: unknown): string {
  const said = typeof message === "string" ? `, ${shownValue(message)}` : "";
  return `answered an error: code ${shownValue(code)}${said}`;
}

/**
 * How far back a list goes if its end may have been cut off; null: unknown. If it is not ordered by the times of
 * publication, newer entries may have been cut off. Implausible times are ignored: with one of the year 1, all notices
 * that are not listed would count as taken down.
 */
export function reachOf(postedMs: number[], at: Date): Date | null {
  const known = postedMs.filter((ms) => canBePosted(ms, at));
  const isOrdered = known.every((ms, index) => index === 0 || ms <= known[index - 1]!);
  return isOrdered && known.length > 0 ? new Date(known.at(-1)!) : null;
}
