/** The age of timestamped data, measured with our own clock, which may be wrong. */
import type { ClockError } from "../lease/heartbeat.js";

/**
 * The age by a correct clock. Our clock is trusted if it may be right within the known bounds: the middle of wide
 * bounds would be less accurate.
 */
export function correctedAge(ageMs: number, clock: ClockError | null): number {
  const { errorMs, withinMs } = clock ?? { errorMs: 0, withinMs: 0 };
  return Math.round(Math.abs(errorMs) > withinMs ? ageMs - errorMs : ageMs);
}

/**
 * The minimum age: uncertainty is resolved in the venue's favour.
 *
 * @param freshestMs the age of data that may count as fresh, by a clock that cannot be compared
 */
export function leastAge(ageMs: number, clock: ClockError | null, freshestMs: number): number {
  return clock ? ageMs - clock.errorMs - clock.withinMs : ageMs - Math.max(0, freshestMs);
}
