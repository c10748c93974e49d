/**
 * The constants by which a probe decides that a stream has stalled and that data are stale: each number once, with its
 * unit and its reason. docs/methodology.md says what is done with them.
 */
import type { Rule } from "./rule.js";

export const probeRules = [
  {
    name: "stale_event_ms",
    value: 30_000,
    unit: "ms",
    reason:
      "Events arrive within a second. A stream whose newest event is half a minute old shows a market that is gone. The registry may say otherwise of a stream.",
  },
  {
    name: "stale_event_stalls",
    value: 3,
    unit: "times",
    reason:
      "Some streams say a thing again with the time of the last trade. That may be as long ago as the stream may be silent, so a stream is not stale below three of its stall thresholds.",
  },
  {
    name: "stale_snapshot_ms",
    value: 10_000,
    unit: "ms",
    reason:
      "A stream may begin with what happened before it was asked for: the last trades, a book that has not changed. What comes within ten seconds of the subscription makes no stream stale.",
  },
  {
    name: "stale_head_blocks",
    value: 5,
    unit: "times",
    reason:
      "Ethereum misses about one block in a hundred, so four in a row hardly ever; providers of a chain are one or two blocks apart. A head that is five block times old, or behind, is neither.",
  },
  {
    name: "stale_head_floor_ms",
    value: 30_000,
    unit: "ms",
    reason:
      "Chains with quick blocks are read at different degrees of confirmation, which are thirteen seconds apart on Solana. Below half a minute no head is stale.",
  },
  {
    name: "counterpart_settle_ms",
    value: 3_000,
    unit: "ms",
    reason:
      "A REST answer and a stream show the same trade some seconds apart, for caches lie between. A trade counts against the stream when the stream had so long to bring it; where trades bear no time, only what changed so long after the stream's last frame is newer.",
  },
  {
    name: "counterpart_wait_cadences",
    value: 3,
    unit: "times",
    reason:
      "A stream with a measured threshold waits so many cadences of its counterpart for an answer. After that it is judged by its threshold alone: a venue that answers neither way is not excused.",
  },
] as const satisfies readonly Rule[];

/** The values by their names. */
export const limits = Object.fromEntries(probeRules.map(({ name, value }) => [name, value])) as Record<
  (typeof probeRules)[number]["name"],
  number
>;
