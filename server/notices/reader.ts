/** Reads venues' own status feeds: politely, within bounds, and never further than what they say. */

import { isDeepStrictEqual } from "node:util";
import {
  makeDocumentFetcher,
  type DocumentFetcherOptions,
  type FetchFailure,
  type Validators,
} from "./fetch-document.js";
import { deadlineIn } from "./deadline.js";
import { notUnderstood, type FeedDocument, type Taken } from "./feed-kind.js";
import { feedKinds } from "./feed-kinds.js";
import type { FeedReader, NoticeList, FeedPoll, FeedSource } from "./feed.js";
import { joined, newest } from "./lists.js";
import { makePace } from "./pace.js";
import { parsedJson } from "./parsed-json.js";
import { plainText } from "./sanitize-text.js";

export interface FeedReaderOptions extends DocumentFetcherOptions {
  /** From one request to a host to the next; the feed kind's own pause when not given. */
  pauseMs?: number;
  /** For all documents of a feed, with the pauses between them. */
  readingMs?: number;
}

/** What is known of a document that was understood whole, for when it has not changed since. */
interface Remembered {
  validators: Validators;
  taken: Taken;
  /** The reading that it was last a part of. */
  at: Date;
}

/** What came of asking for a document, or for a page of one. */
interface Part {
  /** With the document's name before it. */
  problem: string | null;
  taken: Taken;
  /** As in `Failure`. */
  unanswered: boolean;
  /** As in `Reading`, of this document. */
  unchanged: boolean;
  /** Why the other documents are left alone: the venue rations us, or asked us to wait, or there is no time left. */
  isLast: boolean;
  retryAfterMs: number;
  /** Of an answer that failed; else null. */
  failedStatus: number | null;
}

const mostNotices = 1000;
const mostPages = 20;
/** How far back the first reading goes. */
const farthestMs = 100 * 24 * 60 * 60_000;
/** Feeds that left the registry are not asked for any more, and what is known of them is of no use. */
const rememberedMs = 60 * 60_000;

export function makeFeedReader({ pauseMs, readingMs = 120_000, ...options }: FeedReaderOptions): FeedReader {
  const asking = makeDocumentFetcher(options);
  const pace = makePace();
  const memory = new Map<string, Remembered>();

  async function read(source: FeedSource, at: Date, signal: AbortSignal): Promise<FeedPoll> {
    forget(at);
    const deadline = deadlineIn(readingMs, signal);
    /** Null where there is no time left. */
    const readPage: ReadPage = async (document, url) => {
      try {
        return await askFor(document, url, source, at, deadline.signal);
      } catch (error) {
        if (error !== deadline.signal.reason || !deadline.isPast()) throw error;
        return null;
      }
    };
    try {
      return readingOf(await readDocuments(source, at, readPage));
    } finally {
      deadline.clear();
    }
  }

  /** The newest of each list first: a feed too slow to be read back to its beginning is read all the same. */
  async function readDocuments(source: FeedSource, at: Date, readPage: ReadPage): Promise<Part[]> {
    const documents = feedKinds[source.kind].documents(source);
    const parts: Part[] = [];
    for (const document of documents) {
      const part = await readPage(document, document.url);
      parts.push(part ?? latePart(document.url, readingMs));
      if (parts.at(-1)!.isLast) return parts;
    }
    const sinceMs = Math.max(+(source.readAt ?? 0), +at - farthestMs);
    for (const [index, document] of documents.entries()) {
      const first = parts[index]!;
      parts.push(...(await readBack(document, first, sinceMs, readPage)));
      if (parts.at(-1)!.isLast) return parts;
    }
    return parts;
  }

  /** @throws the signal's reason where it ends the asking */
  async function askFor(
    document: FeedDocument,
    url: string,
    source: FeedSource,
    at: Date,
    signal: AbortSignal,
  ): Promise<Part> {
    const betweenMs = pauseMs ?? feedKinds[source.kind].pauseMs;
    const turn = () => pace.turn(new URL(url).host, betweenMs, signal);
    const known = memory.get(url);
    const marks = known?.validators ?? null;
    const answer = await asking.ask(url, marks, turn, signal);
    if (answer.kind === "failed") return failedPart(url, answer);
    if (answer.kind === "unchanged") {
      if (known === undefined) return understoodPart(url, notUnderstood(unasked));
      const before = known.at;
      known.at = at;
      const wasKept = +before === source.readAt?.getTime();
      return {
        ...understoodPart(url, asOf(document, known.taken, at)),
        unchanged: wasKept && saysTheSame(document, known.taken, before, at),
      };
    }
    const taken = takenFrom(answer.text, document, at);
    // Further pages are hardly asked for twice.
    const { validators } = answer;
    const isMarked = validators.etag !== null || validators.lastModified !== null;
    if (taken.problem === null && isMarked && url === document.url) memory.set(url, { validators, taken, at });
    return understoodPart(url, asOf(document, taken, at));
  }

  function forget(now: Date): void {
    for (const [url, { at }] of memory) if (+now - +at > rememberedMs) memory.delete(url);
  }

  return { read, close: () => asking.close() };
}

const unasked = "answered 304, not modified, to who had no earlier answer";

type ReadPage = (document: FeedDocument, url: string) => Promise<Part | null>;

/**
 * Goes back page by page, as long as pages bring anything, until `sinceMs`.
 * Where there is no time left, the list goes back less far, and says so.
 */
async function readBack(document: FeedDocument, first: Part, sinceMs: number, readPage: ReadPage): Promise<Part[]> {
  const parts: Part[] = [];
  const known = new Set(idsOf(first));
  for (let page = 2; page <= mostPages && document.pageUrl; page += 1) {
    const { taken } = parts.at(-1) ?? first;
    const isEnough = known.size >= mostNotices || reachesBack(taken, sinceMs);
    if (!taken.more || isEnough) break;
    const part = await readPage(document, document.pageUrl(page));
    if (part === null || isNoPage(part)) break;
    parts.push(part);
    const ids = idsOf(part).filter((id) => !known.has(id));
    // A server that ignores the page gives the first one again.
    if (ids.length === 0) break;
    for (const id of ids) known.add(id);
  }
  return parts;
}

function asOf(document: FeedDocument, taken: Taken, at: Date): Taken {
  if (!document.asOf || taken.list === null) return taken;
  return { ...taken, list: document.asOf(taken.list, at) };
}

function saysTheSame(document: FeedDocument, taken: Taken, before: Date, now: Date): boolean {
  const [then, today] = [before, now].map((at) => asOf(document, taken, at));
  return isDeepStrictEqual(then, today);
}

function idsOf({ taken }: Part): (string | null)[] {
  return taken.list?.notices.map(({ id }) => id) ?? [];
}

/** So does a page of which nothing was understood: the next one would be no better. */
function reachesBack({ list }: Taken, ms: number): boolean {
  const notices = list?.notices ?? [];
  return notices.length === 0 || notices.some(({ postedAt }) => Number(postedAt) <= ms);
}

/** Pages are not documented, so that it is no fault to have none. */
function isNoPage({ failedStatus }: Part): boolean {
  return failedStatus === 400 || failedStatus === 404;
}

function failedPart(url: string, { problem, status, unanswered, retryAfterMs }: FetchFailure): Part {
  return {
    ...understoodPart(url, notUnderstood(problem)),
    unanswered,
    isLast: status === 429 || status === 418 || retryAfterMs > 0,
    retryAfterMs,
    failedStatus: status,
  };
}

function understoodPart(url: string, taken: Taken): Part {
  return {
    problem: taken.problem === null ? null : `${nameOf(url)}: ${taken.problem}`,
    taken,
    unanswered: false,
    unchanged: false,
    isLast: false,
    retryAfterMs: 0,
    failedStatus: null,
  };
}

function latePart(url: string, readingMs: number): Part {
  const problem = `expected a whole reading within ${readingMs / 1000} s`;
  return {
    ...understoodPart(url, notUnderstood(problem)),
    unanswered: true,
    isLast: true,
  };
}

/** Without what may be secret of an address. */
function nameOf(url: string): string {
  const { host, pathname } = new URL(url);
  return plainText(host + pathname, 120);
}

function takenFrom(text: string, document: FeedDocument, at: Date): Taken {
  const parsed = parsedJson(text);
  if ("problem" in parsed) return notUnderstood(parsed.problem);
  const taken = document.takeApart(parsed.value, at);
  if (taken.list === null) return taken;
  const [list] = newest([joined([taken.list])], mostNotices);
  return { ...taken, list: list! };
}

function readingOf(parts: Part[]): FeedPoll {
  const problems = parts.flatMap(({ problem }) => problem ?? []);
  const feedTimes = parts.flatMap(({ taken }) => taken.feedAt ?? []).map(Number);
  return {
    problem: problemLine(problems),
    unanswered: parts.every(({ unanswered }) => unanswered),
    lists: newest(byScope(parts), mostNotices),
    // The oldest part: the others may be cached for less long, and a feed must not seem to have gone back because of
    // that.
    feedAt: feedTimes.length === 0 ? null : new Date(Math.min(...feedTimes)),
    unchanged: parts.every(({ unchanged }) => unchanged),
    retryAfterMs: Math.max(...parts.map(({ retryAfterMs }) => retryAfterMs)),
  };
}

/** What ails one document of a feed mostly ails the others, too. */
function problemLine([first, ...others]: string[]): string | null {
  if (first === undefined) return null;
  const documents = others.length === 1 ? "document" : "documents";
  const more = others.length > 0 ? `; and ${others.length} more ${documents}` : "";
  return plainText(first, 270) + more;
}

function byScope(parts: Part[]): NoticeList[] {
  const scopes = new Map<string, NoticeList[]>();
  for (const { taken } of parts) {
    if (taken.list === null) continue;
    const { scope } = taken.list;
    const ofScope = scopes.get(scope);
    if (ofScope) ofScope.push(taken.list);
    else scopes.set(scope, [taken.list]);
  }
  return [...scopes.values()].map(joined);
}
