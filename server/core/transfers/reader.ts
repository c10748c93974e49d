/** Reads venues' lists of deposits and withdrawals, as the feeds of notices are read: with pauses and within limits. */
import { jsonLimits, maxBodyBytes } from "../../../shared/http/limits.js";
import { parsedJson, withoutMark } from "../../../shared/http/parsed-json.js";
import { ownSecretsOf } from "../../../shared/registry/credentials.js";
import { hideTexts } from "../../../shared/text/secrets.js";
import { plainText } from "../../../shared/text/untrusted-text.js";
import { shownValue } from "../notices/expected-shape.js";
import { type DocumentFetcherOptions, makeDocumentFetcher, type Validators } from "../notices/feed-documents.js";
import { makePace } from "../notices/reader.js";
import { transferKinds } from "./formats/transfer-kinds.js";
import { listNotUnderstood, type TakenList, type TransferReading, type TransferSource } from "./transfer-list.js";

export interface TransferReaderOptions extends DocumentFetcherOptions {
  /** From one request to a host to the next. */
  pauseMs?: number;
}

export interface TransferReader {
  /**
   * Reads the venue's list.
   *
   * @param at the time of the reading
   * @throws the signal's reason if it ends the reading; that is not a problem of the venue
   */
  read(source: TransferSource, at: Date, signal: AbortSignal): Promise<TransferReading>;
  /** The signals of running readings must be aborted first. */
  close: () => Promise<void>;
}

/** A list that was understood, perhaps without some entries, for answers that it has not changed since. */
interface Remembered {
  validators: Validators;
  taken: TakenList;
  at: Date;
}

/** A list that has left the registry is forgotten after this time. */
const rememberedMs = 60 * 60_000;

/** Lists have megabytes, and arrive slowly from far away. */
const usualDeadlineMs = 30_000;

export function makeTransferReader({ pauseMs = 1000, ...options }: TransferReaderOptions): TransferReader {
  const fetcher = makeDocumentFetcher({
    deadlineMs: usualDeadlineMs,
    maxBodyBytes: maxBodyBytes.transfers,
    ...options,
  });
  const pace = makePace();
  const memory = new Map<string, Remembered>();

  async function read(source: TransferSource, at: Date, signal: AbortSignal): Promise<TransferReading> {
    for (const [key, known] of memory) if (+at - +known.at > rememberedMs) memory.delete(key);
    // core has no registry of its own
    hideTexts(ownSecretsOf({ api: source.api }));
    const key = JSON.stringify([source.kind, source.api, ...source.wanted]);
    const known = memory.get(key);
    const turn = () => pace.turn(new URL(source.api).host, pauseMs, signal);
    const answer = await fetcher.ask(source.api, known?.validators ?? null, turn, signal);
    if (answer.kind === "failed") {
      const { problem, unanswered, retryAfterMs } = answer;
      return { ...listNotUnderstood(problem), unanswered, retryAfterMs };
    }
    const stale = ageProblem(answer.ageMs);
    if (stale !== null) return answered(listNotUnderstood(stale));
    if (answer.kind === "unchanged") {
      if (known === undefined) return answered(listNotUnderstood("answered 304, not modified, to a first request"));
      known.at = at;
      return answered(known.taken);
    }
    const taken = takenFrom(answer.body, source, at);
    const { validators } = answer;
    const isMarked = validators.etag !== null || validators.lastModified !== null;
    if (isMarked && taken.list !== null) memory.set(key, { validators, taken, at });
    return answered(taken);
  }

  return { read, close: () => fetcher.close() };
}

function answered(taken: TakenList): TransferReading {
  const problem = taken.problem === null ? null : plainText(taken.problem, 300);
  return { ...taken, problem, unanswered: false, retryAfterMs: 0 };
}

function takenFrom(body: Buffer, source: TransferSource, at: Date): TakenList {
  const parsed = parsedJson(withoutMark(body), jsonLimits.transfers);
  if ("excess" in parsed) return listNotUnderstood(`expected JSON of at most ${parsed.excess}, got more`);
  if ("text" in parsed)
    return listNotUnderstood(
      /^\s*</.test(parsed.text) ? "answered HTML instead of JSON" : `expected JSON, got ${shownValue(parsed.text)}`,
    );
  const taken = transferKinds[source.kind].takeApart(parsed.value, source.wanted);
  const stale = standsStill(taken.listAt, source, at);
  return stale === null ? taken : listNotUnderstood(stale);
}

/** Copies on several servers of a venue differ by minutes. An older one says nothing of the present. */
const freshMs = 10 * 60_000;

function ageProblem(ageMs: number): string | null {
  if (ageMs <= freshMs) return null;
  return `expected a list of the last ${freshMs / 60_000} minutes, got a cache's copy that is ${Math.round(ageMs / 60_000)} minutes old`;
}

/**
 * Whether the list's own time stands still, or has gone back: a stale copy without an Age header. It is compared with
 * itself, and not with our clock, because a venue's clock may be wrong by any time.
 */
function standsStill(listAt: Date | null, { listAt: before, listMovedAt }: TransferSource, at: Date): string | null {
  if (listAt === null || before === null || listMovedAt === null) return null;
  if (+listAt > +before || +at - +listMovedAt <= freshMs) return null;
  return `expected a newer list than that of ${before.toISOString()}, got one of ${listAt.toISOString()}`;
}
