import type { DatabaseClock } from "../api/clock.js";
import { counted } from "./format.js";

/** Beyond this age, a page warns that its data is old: several ticks are missing. */
const oldAfterMs = 30_000;

/**
 * How old the newest decision in a body is, in words; null while it is as new as it should be, and before the first. By
 * the database's clock, since this machine's may be wrong. In coarse steps, so that a page of old data is not rendered
 * for each request.
 *
 * @param generatedAt of the body. While the engine is silent, it moves on without a decision
 * @param heldMs how long the body may be used beyond its tick
 */
export async function dataAge(clock: DatabaseClock, generatedAt: Date, heldMs = 0): Promise<string | null> {
  // a page from memory needs no database; a program that has just started has not asked it yet
  if (clock.last() === null) await clock.read();
  const { ticked_at: tickedAt, read_at: readAt, askedAtMs } = clock.last()!;
  if (tickedAt === null) return null;
  const ageMs = +readAt + (performance.now() - askedAtMs) - Math.min(+generatedAt, +tickedAt);
  if (ageMs < oldAfterMs + heldMs) return null;
  if (ageMs < 120_000) return counted(Math.floor(ageMs / 10_000) * 10, "second");
  if (ageMs < 7_200_000) return counted(Math.floor(ageMs / 60_000), "minute");
  return counted(Math.floor(ageMs / 3_600_000), "hour");
}
