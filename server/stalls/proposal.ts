/** Derives the stall threshold of a stream from its quiet periods. */

import type { StallThreshold, Stream } from "../../shared/registry/registry.js";
import { type Silence, totalOf } from "./silences.js";

export type Distribution = NonNullable<StallThreshold["distribution"]>;

/**
 * The percentile that thresholds derive from, per mille: the 99.9th. A region hears some four thousand quiet periods a
 * day, of which a few exceed this percentile: few enough for a limit of healthy silence, and enough to measure it. The
 * longest period of all would be a matter of luck, and would grow with the window.
 */
export const readOffPerMille = 999;

/**
 * A threshold is this many times the percentile. Long silences of a healthy stream become rarer at least as fast as
 * long gaps between random arrivals. Of those gaps, one in a thousand exceeds the percentile, but only one in a million
 * exceeds twice the percentile.
 */
export const margin = 2;

/**
 * The shortest threshold. A client that has received nothing for a shorter time has no reason yet to consider the
 * stream dead.
 */
export const leastMs = 10_000;

/**
 * How many quiet periods a proposal needs from the region that heard most of them. Ten of them then exceed the
 * percentile, so that it does not depend on a single one. The periods of several regions do not add up here, because
 * all regions hear the same silences of a venue. A busy stream has this many in two and a half days.
 */
export const leastPeriods = 10_000;

/**
 * @param days on which quiet periods ended, in any order
 * @returns null if there was none
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
 * Nearest rank: the shortest length that `perMille` of a thousand periods do not exceed. Per mille is a whole number,
 * because a float cannot represent 0.999 exactly.
 */
function percentile(silences: readonly Silence[], perMille: number): number {
  const all = totalOf(silences, "periods");
  let counted = 0;
  const reached = silences.find(({ periods }) => (counted += periods) * 1000 >= all * perMille);
  return reached!.quietMs;
}

/** Never shorter than a slot: it would call a slot stalled in which the stream fell silent and then sent again. */
export function thresholdFrom(distribution: Distribution, { cadenceMs }: Stream): StallThreshold {
  const wantedMs = Math.max(margin * distribution.p999Ms, leastMs, cadenceMs);
  return { afterMs: Math.ceil(wantedMs / 1000) * 1000, distribution };
}
