/** Reads venues' own status feeds: politely, within bounds, and never further than what they say. */

import {
  makeAsking,
  type AskingOptions,
  type Failure,
  type Validators,
} from "./asking.js";
import {
  notUnderstood,
  type FeedDocument,
  type FeedKind,
  type Taken,
} from "./feed-kind.js";
import { feedKinds } from "./feed-kinds.js";
import type { FeedReader, NoticeList, Reading, Source } from "./feed.js";
import { joined, newest } from "./lists.js";
import { makePace } from "./pace.js";
import { parsedJson } from "./parsed-json.js";
import { plainText } from "./strangers-text.js";

export interface FeedReaderOptions extends AskingOptions {
  /** From one request to a host to the next; the feed kind's own pause when not given. */
  pauseMs?: number;
}

/** What is known of a document that was understood whole, for when it has not changed since. */
interface Remembered {
  validators: Validators;
  taken: Taken;
}

/** What came of asking for a document, or for a page of one. */
interface Part {
  /** With the document's name before it. */
  problem: string | null;
  taken: Taken;
  /** The venue rations us, or asked us to wait: its other documents are left alone. */
  refused: boolean;
  retryAfterMs: number;
  /** Of an answer that failed; else null. */
  failedStatus: number | null;
}

const mostNotices = 1000;
const mostPages = 20;
/** How far back the first reading goes. */
const farthestMs = 100 * 24 * 60 * 60_000;

export function makeFeedReader({
  pauseMs,
  ...options
}: FeedReaderOptions): FeedReader {
  const asking = makeAsking(options);
  const pace = makePace();
  const memory = new Map<string, Remembered>();

  async function read(
    source: Source,
    at: Date,
    signal: AbortSignal,
  ): Promise<Reading> {
    const kind = feedKinds[source.kind];
    const sinceMs = Math.max(+(source.readAt ?? 0), +at - farthestMs);
    const parts: Part[] = [];
    for (const document of kind.documents(source)) {
      const askFor = (url: string) => readPage(document, url, kind, at, signal);
      parts.push(...(await readPages(document, sinceMs, askFor)));
      if (parts.some(({ refused }) => refused)) break;
    }
    return readingOf(parts);
  }

  async function readPage(
    document: FeedDocument,
    url: string,
    kind: FeedKind,
    at: Date,
    signal: AbortSignal,
  ): Promise<Part> {
    await pace.turn(new URL(url).host, pauseMs ?? kind.pauseMs, signal);
    const known = memory.get(url);
    const answer = await asking.ask(url, known?.validators ?? null, signal);
    if (answer.kind === "failed") return failedPart(url, answer);
    if (answer.kind === "unchanged")
      return understoodPart(url, known?.taken ?? notUnderstood(unasked));
    const taken = takenFrom(answer.text, document, at);
    // Further pages are hardly asked for twice.
    const { validators } = answer;
    const isMarked =
      validators.etag !== null || validators.lastModified !== null;
    if (taken.problem === null && isMarked && url === document.url)
      memory.set(url, { validators, taken });
    return understoodPart(url, taken);
  }

  return { read, close: () => asking.close() };
}

const unasked = "answered 304, not modified, to who had no earlier answer";

/** Goes back page by page, as long as pages bring anything, until `sinceMs`. */
async function readPages(
  { url, pageUrl }: FeedDocument,
  sinceMs: number,
  readPage: (url: string) => Promise<Part>,
): Promise<Part[]> {
  const parts = [await readPage(url)];
  const known = new Set(idsOf(parts[0]!));
  for (let page = 2; page <= mostPages && pageUrl !== null; page += 1) {
    const { taken } = parts.at(-1)!;
    const isEnough = known.size >= mostNotices || reachesBack(taken, sinceMs);
    if (!taken.more || isEnough) break;
    const part = await readPage(pageUrl(page));
    if (isNoPage(part)) break;
    parts.push(part);
    const ids = idsOf(part).filter((id) => !known.has(id));
    // A server that ignores the page gives the first one again.
    if (ids.length === 0) break;
    for (const id of ids) known.add(id);
  }
  return parts;
}

function idsOf({ taken }: Part): (string | null)[] {
  return taken.list?.notices.map(({ id }) => id) ?? [];
}

/** So does a page of which nothing was understood: the next one would be no better. */
function reachesBack({ list }: Taken, ms: number): boolean {
  const notices = list?.notices ?? [];
  return (
    notices.length === 0 ||
    notices.some(({ postedAt }) => Number(postedAt) <= ms)
  );
}

/** Pages are not documented, so that it is no fault to have none. */
function isNoPage({ failedStatus }: Part): boolean {
  return failedStatus === 400 || failedStatus === 404;
}

function failedPart(
  url: string,
  { problem, status, retryAfterMs }: Failure,
): Part {
  return {
    ...understoodPart(url, notUnderstood(problem)),
    refused: status === 429 || status === 418 || retryAfterMs > 0,
    retryAfterMs,
    failedStatus: status,
  };
}

function understoodPart(url: string, taken: Taken): Part {
  return {
    problem: taken.problem === null ? null : `${nameOf(url)}: ${taken.problem}`,
    taken,
    refused: false,
    retryAfterMs: 0,
    failedStatus: null,
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

function readingOf(parts: Part[]): Reading {
  const problems = parts.flatMap(({ problem }) => problem ?? []);
  const feedTimes = parts
    .flatMap(({ taken }) => taken.feedAt ?? [])
    .map(Number);
  return {
    problem: problemLine(problems),
    lists: newest(byScope(parts), mostNotices),
    // The oldest part: the others may be cached for less long, and a feed must not seem to have gone back because of that.
    feedAt: feedTimes.length === 0 ? null : new Date(Math.min(...feedTimes)),
    retryAfterMs: Math.max(...parts.map(({ retryAfterMs }) => retryAfterMs)),
  };
}

/** What ails one document of a feed mostly ails the others, too. */
function problemLine([first, ...others]: string[]): string | null {
  if (first === undefined) return null;
  const documents = others.length === 1 ? "document" : "documents";
  const more =
    others.length > 0 ? `; and ${others.length} more ${documents}` : "";
  return plainText(first, 270) + more;
}

function byScope(parts: Part[]): NoticeList[] {
  const scopes = new Map<string, NoticeList[]>();
  for (const { taken } of parts) {
    if (taken.list === null) continue;
    const { scope } = taken.list;
    scopes.set(scope, [...(scopes.get(scope) ?? []), taken.list]);
  }
  return [...scopes.values()].map(joined);
}
