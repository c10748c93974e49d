/** From the quiet periods of a stream to its stall threshold. */

import type { StallThreshold, Stream } from "../../shared/registry/registry.js";
import { type Silence, totalOf } from "./silences.js";

export type Distribution = NonNullable<StallThreshold["distribution"]>;

/**
 * Of a thousand quiet periods, so many are no longer than what a threshold is read off: the 99.9th percentile. A region
 * hears some four thousand periods a day, so this is what a few of them exceed: rare enough to be the edge of
 * health, common enough to be measured. The longest period of all would be a matter of luck, and grow with the window.
 */
export const readOffPerMille = 999;

/**
 * A threshold is so many times that. Silences of a healthy stream thin out at least as fast as gaps of random arrivals,
 * and of those one in a thousand is longer than the percentile, but only one in a million longer than twice it.
 */
export const margin = 2;

/**
 * At least so long, since a client that heard nothing for a shorter time has no reason yet to think that the stream is
 * dead.
 */
export const leastMs = 10_000;

/**
 * So many periods are wanted in the region that heard most: ten are then beyond the percentile, and it does not hang on
 * one. Regions do not add up here, since they hear the same silences of a venue. A busy stream has them in two and a
 * half days.
 */
export const leastPeriods = 10_000;

/**
 * @param days on which quiet periods ended, in any order
 * @returns null where there was none
 */
export function distributionOf(silences: readonly Silence[], days: readonly string[]): Distribution | null {
  const inOrder = days.toSorted();
  const [from, to] = [inOrder.at(0), inOrder.at(-1)];
  if (from === undefined || to === undefined) return null;
  return {
    periods: totalOf(silences, "periods"),
    from,
    to,
    p50Ms: percentile(silences, 500),
    p99Ms: percentile(silences, 990),
    p999Ms: percentile(silences, readOffPerMille),
  };
}

/**
 * By nearest rank: the shortest length that so many of a thousand periods do not exceed. Shares are whole numbers, as
 * 0.999 is none that a float holds.
 */
function percentile(silences: readonly Silence[], perMille: number): number {
  const all = totalOf(silences, "periods");
  let counted = 0;
  const reached = silences.find(({ periods }) => (counted += periods) * 1000 >= all * perMille);
  return reached!.quietMs;
}

/** Never shorter than a slot: it would call a slot stalled in which the stream fell silent, and then spoke again. */
export function thresholdFrom(distribution: Distribution, { cadenceMs }: Stream): StallThreshold {
  const wantedMs = Math.max(margin * distribution.p999Ms, leastMs, cadenceMs);
  return { afterMs: Math.ceil(wantedMs / 1000) * 1000, distribution };
}
