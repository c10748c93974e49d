import { setTimeout as delay } from "node:timers/promises";
import type { ClockReading, DatabaseClock } from "../api/clock.js";
import { counted } from "./format.js";

/** Beyond this age of the newest decision, a page warns that it is old: several ticks are missing. */
export const oldAfterMs = 30_000;

/** How long a reading of the clock serves: a page from memory then needs no database. */
const readingKeptMs = 5_000;

/** Longer than a reading takes. A page that is in memory does not wait longer for a database that is busy. */
const patienceMs = 1_000;

/**
 * How old the newest decision in a body is, in words; null while it is as new as it should be, and before the first. In
 * coarse steps, so that a page of old data is not rendered for each request.
 *
 * @param generatedAt of the body. While the engine is silent, it moves on without a decision
 * @param heldMs how long the body may be used beyond its tick
 */
export type AgeOf = (generatedAt: Date, heldMs?: number) => Promise<string | null>;

/** By the database's clock, since this machine's may be wrong. */
export function makeAgeOf(clock: DatabaseClock, warnAfterMs: number): AgeOf {
  return async (generatedAt, heldMs = 0) => {
    const before = clock.last();
    if (before === null) await clock.read();
    else if (!isFresh(before)) await Promise.race([clock.read(), delay(patienceMs, null, { ref: false })]);
    const reading = clock.last()!;
    // an older reading knows only of an older tick; then the body itself is the newest witness of a decision
    const tickedAt = isFresh(reading) ? reading.ticked_at : generatedAt;
    if (tickedAt === null) return null;
    const nowMs = +reading.read_at + (performance.now() - reading.askedAtMs);
    const ageMs = nowMs - Math.min(+generatedAt, +tickedAt);
    return ageMs < warnAfterMs + heldMs ? null : ageText(ageMs);
  };
}

function isFresh({ askedAtMs }: ClockReading): boolean {
  return performance.now() - askedAtMs <= readingKeptMs;
}

function ageText(ageMs: number): string {
  if (ageMs < 120_000) return counted(Math.floor(ageMs / 10_000) * 10, "second");
  if (ageMs < 7_200_000) return counted(Math.floor(ageMs / 60_000), "minute");
  return counted(Math.floor(ageMs / 3_600_000), "hour");
}
