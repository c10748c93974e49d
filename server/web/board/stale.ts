import { setTimeout as delay } from "node:timers/promises";
import { makeBody } from "../api/body.js";
import type { Aged, ClockReading, DatabaseClock, Snapshot } from "./snapshot.js";

/** Beyond this age of the newest decision, a body is stale: several ticks are missing. */
export const staleAfterMs = 30_000;

/** How long a reading of the clock may be used, so that a body from memory needs no database. */
const readingKeptMs = 5_000;

/** Longer than a reading takes. A body in memory waits no longer than this for a busy database. */
const patienceMs = 1_000;

/** How far the instants of a silent engine are behind, at least; see `sql/board/010-clock.sql`. */
const silentBehindMs = 30_000;

/** Ages are rounded down to these steps, so that not every request makes a new stale body. */
const stepS = 10;

/**
 * Sets `stale` and `ageSeconds` in bodies while the engine lags. SQL cannot: a body is made once a tick, and becomes
 * stale because no tick follows. A closed incident no longer changes, so it is never stale.
 *
 * By the database's clock, since this machine's may be wrong.
 */
export function makeAged(clock: DatabaseClock, afterMs: number): Aged {
  const made = new WeakMap<Snapshot, { ageSeconds: number | null; stale: Snapshot }>();

  function agedBy(snapshot: Snapshot, reading: ClockReading): Snapshot {
    const newestAt = newestDecision(reading, snapshot.generatedAt);
    const ageMs = ageOf(reading, newestAt);
    if (ageMs !== null && ageMs < afterMs) return snapshot;
    // the newest decision of a history is old, but nothing has fallen silent since
    const [decidedAt, ageSeconds] = reading.starting ? [null, null] : [newestAt, inSteps(ageMs)];
    const before = made.get(snapshot);
    if (before?.ageSeconds === ageSeconds) return before.stale;
    const body = JSON.parse(snapshot.body.plain.toString()) as object;
    const stale = {
      ...snapshot,
      body: makeBody(JSON.stringify({ ...body, stale: true, ageSeconds, decidedAt })),
      ...(reading.starting && { start: { writtenTo: reading.ticked_at, now: reading.read_at } }),
    };
    made.set(snapshot, { ageSeconds, stale });
    return stale;
  }

  async function afterReading(snapshot: Snapshot): Promise<Snapshot> {
    if (clock.last() === null) await clock.read();
    else await readSoon(clock);
    return agedBy(snapshot, clock.last()!);
  }

  return (snapshot) => {
    if (snapshot.closed) return snapshot;
    const reading = clock.last();
    if (reading === null || !isFresh(reading)) return afterReading(snapshot);
    return agedBy(snapshot, reading);
  };
}

/** What a body says of its age. */
export interface Freshness {
  stale: boolean;
  ageSeconds: number | null;
}

/** The same without a body, as for an open stream. It needs no database: without one, the age only grows. */
export function makeFreshness(clock: DatabaseClock, afterMs: number): () => Promise<Freshness> {
  return async () => {
    await readSoon(clock);
    const last = clock.last();
    const ageMs = last && ageOf(last, last.ticked_at);
    const stale = ageMs === null || ageMs >= afterMs;
    return { stale, ageSeconds: stale && !last?.starting ? inSteps(ageMs) : null };
  };
}

/** Reads the clock, unless that takes long or fails: readers of the database report that it is unreachable. */
async function readSoon(clock: DatabaseClock): Promise<void> {
  const read = clock.read().catch(() => null);
  await Promise.race([read, delay(patienceMs, null, { ref: false })]);
}

/**
 * The instant of the newest decision; null before the first.
 *
 * @param generatedAt of a body: when the reading is old, it may be the newest evidence of a decision. The instant that
 * a silent engine shows is none: it is at least `silentBehindMs` before the database's time
 */
function newestDecision(reading: ClockReading, generatedAt: Date): Date | null {
  const isWitness = +generatedAt > Math.max(+reading.generated_at, +reading.read_at - silentBehindMs);
  return isWitness && !isFresh(reading) ? generatedAt : reading.ticked_at;
}

/** Milliseconds since the decision. */
function ageOf(reading: ClockReading, decidedAt: Date | null): number | null {
  return decidedAt && +reading.read_at + (performance.now() - reading.askedAtMs) - +decidedAt;
}

/** Seconds in whole steps, as bodies give them. */
function inSteps(ageMs: number | null): number | null {
  return ageMs === null ? null : Math.floor(ageMs / 1000 / stepS) * stepS;
}

function isFresh({ askedAtMs }: ClockReading): boolean {
  return performance.now() - askedAtMs <= readingKeptMs;
}
