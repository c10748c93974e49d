/** How old data are that bear a time of their own, by a clock that may be wrong: ours. */
import type { ClockError } from "../lease/heartbeat.js";

/**
 * As old as by a clock that goes right. One that may be right, for all that is known, is believed: the middle of wide
 * bounds says less.
 */
export function correctedAge(ageMs: number, clock: ClockError | null): number {
  const { errorMs, withinMs } = clock ?? { errorMs: 0, withinMs: 0 };
  return Math.round(Math.abs(errorMs) > withinMs ? ageMs - errorMs : ageMs);
}

/**
 * As old at least, for all that is known: what is not sure is in the venue's favour.
 *
 * @param freshestMs of a clock that cannot be compared: the age, by it, of data that may be taken for fresh
 */
export function leastAge(ageMs: number, clock: ClockError | null, freshestMs: number): number {
  return clock ? ageMs - clock.errorMs - clock.withinMs : ageMs - Math.max(0, freshestMs);
}
