import { probeLimits } from "../../shared/rules/probe-rules.js";
import type { NewestIn, NewestThing } from "./rest/checks.js";
import type { Heard } from "./stream/meter.js";

/** A REST endpoint that shows whether a quiet stream should have sent something. */
export interface Counterpart {
  /** How often the endpoint is requested. */
  cadenceMs: number;
  /**
   * Records a good answer.
   *
   * @param askedMs when it was requested, by `performance.now()`
   * @param newest one that says nothing shows neither that something happened nor that nothing did
   */
  answered(askedMs: number, newest: NewestIn): void;
  /**
   * Whether an event happened that is newer than the last one heard by more than `byMs`.
   *
   * @returns null if no answer since then says anything
   */
  wentOn(heard: Heard, byMs: number, nowMs: number): boolean | null;
}

/** An entry that was new in the answer requested at `askedMs`, compared with the one requested before, at `afterMs`. */
interface News {
  newest: NewestThing;
  askedMs: number;
  afterMs: number;
}

/** Nodes behind one address may return older answers in turn: entries seen recently are not new. */
const newsKept = 50;

export function makeCounterpart(cadenceMs: number): Counterpart {
  const { counterpart_settle_ms: settleMs } = probeLimits;
  const news: News[] = [];
  let askedMs = -Infinity;

  return {
    cadenceMs,
    answered(nowMs, newest) {
      if (newest === null) return;
      const afterMs = askedMs;
      askedMs = nowMs;
      if (newest === "none" || !isNew(newest, news)) return;
      news.push({ newest, askedMs, afterMs });
      if (news.length > newsKept) news.shift();
    },
    wentOn(heard, byMs, nowMs) {
      const settled = news.filter((one) => one.askedMs + settleMs <= nowMs);
      if (settled.some((one) => isNewer(one, heard, byMs))) return true;
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
 * Compares the venue's own times if both are known. Otherwise the entry must have appeared entirely after the last
 * frame, by some seconds, because an answer may come from a cache.
 */
function isNewer(one: News, { atMs, eventMs }: Heard, byMs: number): boolean {
  if (eventMs !== null && "atMs" in one.newest) return timeOf(one) > eventMs + byMs;
  return one.afterMs >= atMs + probeLimits.counterpart_settle_ms && one.askedMs > atMs + byMs;
}

function timeOf({ newest }: News): number {
  return "atMs" in newest ? newest.atMs : -Infinity;
}

function idOf({ newest }: News): string | null {
  return "id" in newest ? newest.id : null;
}
