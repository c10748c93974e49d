import { limits } from "../../shared/measurement/probe-rules.js";
import type { NewestThing } from "../rest/answer-time.js";

/** Until when a stream was heard. */
export interface Heard {
  /** `performance.now()` */
  atMs: number;
  /** Its newest event, by the venue's clock, milliseconds since 1970; null where that is not known. */
  eventMs: number | null;
}

/** What a REST endpoint shows of a market: whether there was something to say that a stream did not. */
export interface Counterpart {
  /** How often it is asked. */
  cadenceMs: number;
  /**
   * A good answer came.
   *
   * @param askedMs when it was asked for, `performance.now()`
   * @param newest null where the answer named nothing, as in a quiet minute
   */
  answered(askedMs: number, newest: NewestThing | null): void;
  /**
   * Whether something happened that is newer than the last that was heard, by more than so much.
   *
   * @returns null where it was not asked since
   */
  wentOn(heard: Heard, byMs: number, nowMs: number): boolean | null;
}

/** Something new that stood in the answer asked for at `askedMs`, and not in the one before, asked for at `afterMs`. */
interface News {
  newest: NewestThing;
  askedMs: number;
  afterMs: number;
}

/** Nodes behind one address take turns with older answers: what was seen lately is no news. */
const newsKept = 50;

export function makeCounterpart(cadenceMs: number): Counterpart {
  const { counterpart_settle_ms: settleMs } = limits;
  const news: News[] = [];
  let askedMs = -Infinity;

  return {
    cadenceMs,
    answered(nowMs, newest) {
      const afterMs = askedMs;
      askedMs = nowMs;
      if (!newest || !isNew(newest, news)) return;
      news.push({ newest, askedMs, afterMs });
      if (news.length > newsKept) news.shift();
    },
    wentOn(heard, byMs, nowMs) {
      const told = news.filter((one) => one.askedMs + settleMs <= nowMs);
      if (told.some((one) => isNewer(one, heard, byMs))) return true;
      return askedMs > heard.atMs + byMs ? false : null;
    },
  };
}

function isNew(newest: NewestThing, known: readonly News[]): boolean {
  return "atMs" in newest
    ? known.every((one) => newest.atMs > timeOf(one))
    : known.every((one) => newest.id !== idOf(one));
}

/**
 * By the venue's own times, where both have one. Else what changed in between must have changed wholly after the last
 * frame, by some seconds: an answer may come out of a cache.
 */
function isNewer(one: News, { atMs, eventMs }: Heard, byMs: number): boolean {
  if (eventMs !== null && "atMs" in one.newest) return timeOf(one) > eventMs + byMs;
  return one.afterMs >= atMs + limits.counterpart_settle_ms && one.askedMs > atMs + byMs;
}

function timeOf({ newest }: News): number {
  return "atMs" in newest ? newest.atMs : -Infinity;
}

function idOf({ newest }: News): string | null {
  return "id" in newest ? newest.id : null;
}
