/**
 * The constants by which a probe decides that a stream has stalled and that data are stale, each with its unit and
 * reason. docs/methodology.md explains their use.
 */

export const probeRules = [
  {
    name: "stale_event_ms",
    value: 30_000,
    unit: "ms",
    reason:
      "Events arrive within a second. A stream whose newest event is half a minute old no longer shows the market. The registry may set another value for a stream.",
  },
  {
    name: "stale_event_stalls",
    value: 3,
    unit: "times",
    reason:
      "Some streams repeat data with the time of the last trade, which may be as old as the stream may be silent. So a stream is not stale below three of its stall thresholds.",
  },
  {
    name: "stale_snapshot_ms",
    value: 10_000,
    unit: "ms",
    reason:
      "A stream may begin with older data: the last trades, or a book that has not changed. Data that come within ten seconds of the subscription make no stream stale.",
  },
  {
    name: "stale_head_blocks",
    value: 5,
    unit: "times",
    reason:
      "Ethereum misses about one block in a hundred, so four in a row are very rare; providers of a chain are one or two blocks apart. Neither explains a head that is five block times old, or five behind.",
  },
  {
    name: "stale_head_floor_ms",
    value: 30_000,
    unit: "ms",
    reason:
      "Chains with fast blocks are read at different confirmation levels, which are thirteen seconds apart on Solana. Below half a minute no head is stale.",
  },
  {
    name: "future_time_ms",
    value: 10_000,
    unit: "ms",
    reason:
      "The clocks of venues differ from ours by a second or two, and a probe whose own clock is known to be wrong measures nothing. A time further ahead of us than ten seconds is an error, says nothing, and is not remembered as the newest. No stream stalls so soon, so a smaller error does no harm.",
  },
  {
    name: "counterpart_settle_ms",
    value: 3_000,
    unit: "ms",
    reason:
      "Because of caches, a REST answer and a stream show the same trade some seconds apart. A trade counts against the stream once the stream had this long to deliver it; where trades have no time, only a change this long after the stream's last frame counts as newer.",
  },
  {
    name: "counterpart_wait_cadences",
    value: 3,
    unit: "times",
    reason:
      "A stream with a measured threshold waits this many cadences of its counterpart for an answer. After that only its threshold counts: a venue that answers neither way is not excused.",
  },
] as const satisfies readonly Rule[];

/** The values by name. */
export const probeLimits = Object.fromEntries(probeRules.map(({ name, value }) => [name, value])) as Record<
  (typeof probeRules)[number]["name"],
  number
>;

/** The age beyond which a head is stale, and a chain stands. */
export function staleHeadMs(blockMs: number): number {
  return Math.max(probeLimits.stale_head_floor_ms, probeLimits.stale_head_blocks * blockMs);
}

/** A published constant. Each list of them is in the folder that applies it. */
export interface Rule {
  /** For an engine rule, a field of `engine.rules`. */
  name: string;
  value: number;
  unit: (typeof ruleUnits)[number];
  reason: string;
}

export const ruleUnits = [
  "ms",
  "hours",
  "days",
  "samples",
  "cadences",
  "windows",
  "regions",
  "vantages",
  "incidents",
  "venues",
  "share",
  "times",
] as const;
