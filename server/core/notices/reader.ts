/** Reads venues' own status feeds, with pauses and within limits. It never fetches an address that a feed contains. */
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { mebibyte } from "../../../shared/config/byte-units.js";
import { jsonLimits } from "../../../shared/http/limits.js";
import { parsedJson, withoutMark } from "../../../shared/http/parsed-json.js";
import { isWordOfCatalogue, catalogueWords } from "../../../shared/registry/addresses.js";
import { ownSecretsOf } from "../../../shared/registry/credentials.js";
import { hideTexts } from "../../../shared/text/secrets.js";
import { plainText } from "../../../shared/text/untrusted-text.js";
import { shownValue } from "./expected-shape.js";
import {
  deadlineIn,
  type DocumentFetcherOptions,
  type FetchFailure,
  listenToDocument,
  makeDocumentFetcher,
  type Validators,
} from "./feed-documents.js";
import {
  canBePosted,
  type FeedDocument,
  type FeedPoll,
  type FeedReader,
  type FeedSource,
  type NoticeList,
  notUnderstood,
  type Taken,
  type Notice,
} from "./feed.js";
import { feedKinds } from "./formats/feed-kinds.js";
import { scheduledMaintenances } from "./formats/statuspage.js";

export interface FeedReaderOptions extends DocumentFetcherOptions {
  /** From one request to a host to the next; default: the pause of the feed's kind. */
  pauseMs?: number;
  /** How long after its newest frame a server that pushes its feed counts as silent; default: five seconds. */
  quietMs?: number;
  /** Limit for all documents of a feed, including the pauses between them. */
  readingMs?: number;
}

/** A document that was understood completely, kept for answers that it has not changed since. */
interface Remembered {
  validators: Validators;
  taken: Taken;
  /** The last reading that contained it. */
  at: Date;
}

/** The result of requesting a document, or a page of one. */
interface Part {
  /** Begins with the document's name. */
  problem: string | null;
  taken: Taken;
  /** As in `FetchFailure`. */
  unanswered: boolean;
  /** As in `FeedPoll`, for this document. */
  unchanged: boolean;
  /** Whether no further document is requested: we are rate-limited, or the venue asked us to wait, or time is up. */
  isLast: boolean;
  retryAfterMs: number;
  /** Status of an answer that counts as failed; otherwise null. */
  failedStatus: number | null;
}

const mostNotices = 1000;
const mostPages = 20;
/** Characters of the entries of one list; beyond them no further page is read. */
const mostRead = 2 * mebibyte;
/** How far back the first reading goes. */
const farthestMs = 100 * 24 * 60 * 60_000;
/** Documents of feeds that left the registry are forgotten after this time. */
const rememberedMs = 60 * 60_000;

export function makeFeedReader({ pauseMs, readingMs = 120_000, ...options }: FeedReaderOptions): FeedReader {
  const asking = makeDocumentFetcher(options);
  const pace = makePace();
  const memory = new Map<string, Remembered>();

  async function read(source: FeedSource, at: Date, signal: AbortSignal): Promise<FeedPoll> {
    forget(at);
    // core has no registry of its own
    hideTexts(ownSecretsOf({ api: source.api }));
    const deadline = deadlineIn(readingMs, signal);
    /** Returns null if there is no time left. */
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

  /** Reads the newest page of each list first, so that a feed which is too slow for all its pages is still read. */
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
      parts.push(...(await readBack(document, first, sinceMs, at, readPage)));
      if (parts.at(-1)!.isLast) return parts;
    }
    return parts;
  }

  /** @throws the signal's reason if it ends the request */
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
    const answer = document.pushed
      ? await turn().then(() => listenToDocument(url, document.pushed!, { ...options, at, signal }))
      : await asking.ask(url, marks, turn, signal);
    if (answer.kind === "failed") return failedPart(url, answer);
    if (answer.kind === "unchanged") {
      if (known === undefined) return understoodPart(url, notUnderstood(unaskedNotModified));
      const before = known.at;
      known.at = at;
      const wasKept = +before === source.readAt?.getTime();
      return {
        ...understoodPart(url, asOf(document, known.taken, at)),
        unchanged: wasKept && saysTheSame(document, known.taken, before, at),
      };
    }
    const taken = takenFrom(answer.body, document, at);
    // Further pages are rarely requested twice, so only the first one is remembered.
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

const unaskedNotModified = "answered 304, not modified, to a request without validators";

type ReadPage = (document: FeedDocument, url: string) => Promise<Part | null>;

/**
 * Reads further pages back to `sinceMs`, as long as they contain new notices. If time is up, the list goes back less
 * far, which its `listedFrom` shows.
 */
async function readBack(
  document: FeedDocument,
  first: Part,
  sinceMs: number,
  at: Date,
  readPage: ReadPage,
): Promise<Part[]> {
  const parts: Part[] = [];
  const known = new Set(idsOf(first));
  for (let page = 2; page <= mostPages && document.pageUrl; page += 1) {
    const { taken } = parts.at(-1) ?? first;
    const read = [first, ...parts].reduce((sum, part) => sum + charactersOf(part), 0);
    const isEnough = known.size >= mostNotices || read > mostRead || reachesBack(taken, sinceMs, at);
    if (!taken.more || isEnough) break;
    const part = await readPage(document, document.pageUrl(page));
    if (part === null || isNoPage(part)) break;
    parts.push(part);
    const ids = idsOf(part).filter((id) => !known.has(id));
    // A server that ignores the page number returns the first page again.
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

function charactersOf({ taken }: Part): number {
  return (taken.list?.notices ?? []).reduce((sum, { raw }) => sum + raw.length, 0);
}

/** Also true for a page of which nothing was understood, because the next one would be no better. */
function reachesBack({ list }: Taken, ms: number, at: Date): boolean {
  const posted = (list?.notices ?? []).map(({ postedAt }) => Number(postedAt));
  return posted.length === 0 || posted.some((postedMs) => canBePosted(postedMs, at) && postedMs <= ms);
}

/** Pages are not documented, so it is no problem if a feed has none. */
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

/** The host, and the parts of the path that the catalogue or a format also has. The rest of a URL may be secret. */
function nameOf(url: string): string {
  const { host, pathname } = new URL(url);
  const isPublic = (part: string) => part === scheduledMaintenances || catalogueWords(part).every(isWordOfCatalogue);
  const path = pathname.split("/").map((part) => (isPublic(part) ? part : "…"));
  return plainText(host + path.join("/"), 120);
}

function takenFrom(body: Buffer, document: FeedDocument, at: Date): Taken {
  const parsed = parsedJson(withoutMark(body), jsonLimits.feed);
  if ("excess" in parsed) return notUnderstood(`expected JSON of at most ${parsed.excess}, got more`);
  if ("text" in parsed)
    return notUnderstood(
      /^\s*</.test(parsed.text) ? "answered HTML instead of JSON" : `expected JSON, got ${shownValue(parsed.text)}`,
    );
  const taken = document.takeApart(parsed.value, at);
  if (taken.list === null) return taken;
  const [list] = newestNotices([joinedLists([taken.list])], mostNotices);
  return { ...taken, list: list! };
}

function readingOf(parts: Part[]): FeedPoll {
  const problems = parts.flatMap(({ problem }) => problem ?? []);
  const feedTimes = parts.flatMap(({ taken }) => taken.feedAt ?? []).map(Number);
  return {
    problem: problemLine(problems),
    unanswered: parts.every(({ unanswered }) => unanswered),
    lists: withShortEntries(newestNotices(byScope(parts), mostNotices)),
    // The time of the oldest part: newer parts may have been cached for less long, and the feed must not appear to go
    // back in time because of that.
    feedAt: feedTimes.length === 0 ? null : new Date(Math.min(...feedTimes)),
    unchanged: parts.every(({ unchanged }) => unchanged),
    retryAfterMs: Math.max(...parts.map(({ retryAfterMs }) => retryAfterMs)),
  };
}

/** Contains only the first problem, because all documents of a feed usually have the same one. */
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
  return [...scopes.values()].map(joinedLists);
}

export interface PollingPace {
  /**
   * Waits until the host may be requested. Callers get their turns in the order of their calls.
   *
   * @param pauseMs from this turn to the host's next one
   * @throws the signal's reason if it ends the wait
   */
  turn(host: string, pauseMs: number, signal: AbortSignal): Promise<void>;
}

/** Spaces out requests to the same host, even if they are for different feeds. */
export function makePace(): PollingPace {
  const nextMs = new Map<string, number>();
  return {
    async turn(host, pauseMs, signal) {
      const nowMs = performance.now();
      const turnMs = Math.max(nowMs, nextMs.get(host) ?? nowMs);
      nextMs.set(host, turnMs + pauseMs);
      if (turnMs <= nowMs) return;
      try {
        await sleep(turnMs - nowMs, undefined, { signal });
      } catch (error) {
        signal.throwIfAborted();
        throw error;
      }
    },
  };
}

/** Joins the parts of a list, which may overlap. If a notice is in two of them, the first one counts. */
export function joinedLists(parts: NoticeList[]): NoticeList {
  const known = new Set<string>();
  const notices = parts
    .flatMap((part) => part.notices)
    .filter(({ id }) => {
      if (id === null) return true;
      const isNew = !known.has(id);
      known.add(id);
      return isNew;
    });
  return { ...parts[0]!, notices, listedFrom: earliestListed(parts) };
}

function earliestListed(parts: NoticeList[]): Date | null {
  const from = parts.map(({ listedFrom }) => listedFrom);
  if (from.includes(null)) return null;
  return new Date(Math.min(...from.map(Number)));
}

/** The newest notices of all lists together. A list that loses notices begins after the newest of these. */
export function newestNotices(lists: NoticeList[], most: number): NoticeList[] {
  const all = lists.flatMap(({ notices }) => notices).sort(byAge);
  const kept = new Set(all.slice(0, most));
  return lists.map((list) => {
    const notices = [...list.notices].sort(byAge);
    const left = notices.find((notice) => !kept.has(notice));
    return {
      ...list,
      notices: notices.filter((notice) => kept.has(notice)),
      listedFrom: left ? postedAfter(left, list.listedFrom) : list.listedFrom,
    };
  });
}

/**
 * Entries are stored at each change, so only the newest are stored whole: a feed that changes all of them cannot fill
 * the disk.
 */
const [mostWhole, mostShort] = [mebibyte, 500];

/** The same lists; beyond a mebibyte of newer entries, an entry is cut. */
export function withShortEntries(lists: NoticeList[]): NoticeList[] {
  let left = mostWhole;
  const short = new Set<Notice>();
  for (const notice of lists.flatMap(({ notices }) => notices).sort(byAge)) {
    left -= notice.raw.length;
    if (left < 0) short.add(notice);
  }
  if (short.size === 0) return lists;
  const cut = (notice: Notice) => (short.has(notice) ? { ...notice, raw: notice.raw.slice(0, mostShort) } : notice);
  return lists.map((list) => ({ ...list, notices: list.notices.map(cut) }));
}

function postedAfter({ postedAt }: Notice, from: Date | null): Date | null {
  if (from === null || postedAt === null) return null;
  return new Date(Math.max(+from, +postedAt + 1));
}

/** Newest first. A notice of the present state has no time, and counts as the newest. */
function byAge(a: Notice, b: Notice): number {
  const [one, other] = [timeOf(a), timeOf(b)];
  return one === other ? 0 : one < other ? 1 : -1;
}

function timeOf({ postedAt, startedAt }: Notice): number {
  const at = postedAt ?? startedAt;
  return at === null ? Infinity : +at;
}
