import type { StallThreshold } from "../../../shared/registry/registry.js";
import { distributionOf, thresholdFrom } from "../stalls.js";
import type { Heard } from "./listen.js";

export interface Proposal {
  stream: string;
  typicalPerMinute: number;
  stall: StallThreshold;
}

/** Fewer frames say nothing of their usual rate. */
const leastFrames = 10;

/**
 * What an entry may say of a stream, by the rule of `StallThreshold` for its `rateBasis`: minutes do not show whether
 * a stream is regular. Its silences lengthen the threshold as those of `stalls measure` do, but they are too few for a
 * distribution.
 *
 * @returns null if too little was heard
 */
export function proposalFor({ stream, frames, perMinute, quietMs }: Heard): Proposal | null {
  if (frames < leastFrames) return null;
  const [intervals, leastMs] = stream.rateBasis === "estimate" ? [60, 15_000] : [10, 10_000];
  const day = new Date().toISOString().slice(0, 10);
  const silence = { slots: 1, periods: 1, leftOut: 0, firstDay: day, lastDay: day };
  const silences = quietMs.map((ms) => ({ ...silence, quietMs: ms })).sort((a, b) => a.quietMs - b.quietMs);
  const wantedMs = Math.max(
    ...[(intervals * 60_000) / perMinute, leastMs],
    thresholdFrom(distributionOf(silences)!, stream).afterMs,
  );
  const stall = { afterMs: Math.ceil(wantedMs / 1000) * 1000, distribution: null };
  return { stream: stream.name, typicalPerMinute: perMinute, stall };
}

/** For the streams of the entry, or for those of an override. */
export function proposalsText(proposals: readonly Proposal[]): string {
  if (proposals.length === 0) return "";
  const streams = Object.fromEntries(proposals.map(({ stream, ...fields }) => [stream, fields]));
  return `\nProposed by what was heard, for the streams of an entry or of an override:\n${JSON.stringify({ socket: { streams } })}\n`;
}
