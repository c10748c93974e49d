import type { DatabaseClock } from "../api/clock.js";
import { counted } from "./format.js";

/** Beyond this age of the newest decision, a page warns that it is old: several ticks are missing. */
export const oldAfterMs = 30_000;

/** How long a reading of the clock serves: a page from memory then needs no database. */
const readingKeptMs = 5_000;

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
    const known = clock.last();
    // an older reading knows only of an older tick
    if (known === null || performance.now() - known.askedAtMs > readingKeptMs) await clock.read();
    const { ticked_at: tickedAt, read_at: readAt, askedAtMs } = clock.last()!;
    if (tickedAt === null) return null;
    const ageMs = +readAt + (performance.now() - askedAtMs) - Math.min(+generatedAt, +tickedAt);
    return ageMs < warnAfterMs + heldMs ? null : ageText(ageMs);
  };
}

function ageText(ageMs: number): string {
  if (ageMs < 120_000) return counted(Math.floor(ageMs / 10_000) * 10, "second");
  if (ageMs < 7_200_000) return counted(Math.floor(ageMs / 60_000), "minute");
  return counted(Math.floor(ageMs / 3_600_000), "hour");
}
