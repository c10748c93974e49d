/**
 * The constants of the engine: each number once, with its unit and its reason. `engine.rules` in SQL has the same
 * fields; core hands them to every tick.
 */
export interface Rule {
  /** Field of `engine.rules`. */
  name: string;
  value: number;
  unit: "ms" | "samples" | "cadences" | "share";
  reason: string;
}

export const rules = [
  {
    name: "window_ms",
    value: 60_000,
    unit: "ms",
    reason:
      "A component is judged by its last minute: about twelve samples at the default cadence, enough for a share, short enough to be soon.",
  },
  {
    name: "window_cadences",
    value: 6,
    unit: "cadences",
    reason:
      "A slow endpoint is judged by its last six samples, since its last minute would hold too few.",
  },
  {
    name: "min_samples",
    value: 3,
    unit: "samples",
    reason:
      "With fewer samples in the window a single one would decide: the state is unknown.",
  },
  {
    name: "degraded_bad_share",
    value: 0.2,
    unit: "share",
    reason:
      "One bad answer in five is felt by anybody who retries once; below that it is within what networks lose.",
  },
  {
    name: "outage_bad_share",
    value: 0.5,
    unit: "share",
    reason: "When every other answer is bad, a client cannot work.",
  },
  {
    name: "opening_bad_run",
    value: 3,
    unit: "samples",
    reason:
      "Three bad samples in a row are no hiccup: single ones are common on the public internet, runs of three are not.",
  },
  {
    name: "vote_max_age_ms",
    value: 60_000,
    unit: "ms",
    reason:
      "A region whose newest sample is older than a minute does not report, and has no vote.",
  },
  {
    name: "vote_max_age_cadences",
    value: 2,
    unit: "cadences",
    reason:
      "A slow endpoint may miss one of its slots before its region counts as silent.",
  },
  {
    name: "recovery_hold_ms",
    value: 60_000,
    unit: "ms",
    reason:
      "An incident closes after its component was confirmed operational for a minute on end, so that a short good spell within an outage does not end it.",
  },
] as const satisfies Rule[];

/** The rules as one row of `engine.rules`. */
export const rulesRow: Record<string, number> = Object.fromEntries(
  rules.map(({ name, value }) => [name, value]),
);
