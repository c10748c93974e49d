/**
 * The engine's constants, each with its unit and reason. docs/rulebook.md says what they do. `engine.rules` in SQL has
 * the same fields; core passes them to every tick.
 */
import type { Rule } from "./probe-rules.js";

export const engineRules = [
  {
    name: "step_ms",
    value: 2_000,
    unit: "ms",
    reason:
      "The engine decides at every even second. A fault that all regions see becomes an incident within one step of its third bad sample; deciding more often would gain less than the spread of the samples' arrival times.",
  },
  {
    name: "window_ms",
    value: 60_000,
    unit: "ms",
    reason:
      "A component is judged by its last minute: about twelve samples at the default cadence, enough for a share and short enough to react fast.",
  },
  {
    name: "window_cadences",
    value: 6,
    unit: "cadences",
    reason: "A slow endpoint is judged by its last six samples, since its last minute would hold too few.",
  },
  {
    name: "min_samples",
    value: 3,
    unit: "samples",
    reason: "With fewer samples in the window, a single one would decide the state; it is unknown instead.",
  },
  {
    name: "gap_room_samples",
    value: 3,
    unit: "samples",
    reason:
      "After a gap that leaves room for fewer than three cadences in the window, old samples leave it as new ones come, and the state would change back and forth. So the window begins after the gap.",
  },
  {
    name: "degraded_bad_share",
    value: 0.2,
    unit: "share",
    reason:
      "One failed response in five is noticed even by clients that retry once; fewer are within normal network loss.",
  },
  {
    name: "degraded_min_failed",
    value: 2,
    unit: "samples",
    reason:
      "One failed response is a hiccup. In a window of six samples it would be a fifth whenever the newest sample has not arrived yet.",
  },
  {
    name: "outage_bad_share",
    value: 0.5,
    unit: "share",
    reason: "When every other response fails, clients cannot work.",
  },
  {
    name: "slow_multiple",
    value: 3,
    unit: "times",
    reason:
      "Latencies vary by half from hour to hour; three times the typical latency of the same endpoint from the same region is not normal variation.",
  },
  {
    name: "slow_floor_ms",
    value: 500,
    unit: "ms",
    reason: "Three times 30 ms is harmless: an endpoint less than half a second above its typical latency is not slow.",
  },
  {
    name: "slow_untypical_ms",
    value: 3_000,
    unit: "ms",
    reason:
      "Until an endpoint's typical latency is known, which takes hours, a response that takes three seconds is slow: no client of a trading API expects that.",
  },
  {
    name: "typical_days",
    value: 7,
    unit: "days",
    reason:
      "In seven days, every hour of the day and every day of the week counts equally, and one bad day cannot move the median.",
  },
  {
    name: "typical_min_hours",
    value: 6,
    unit: "hours",
    reason: "With fewer measured hours there is no typical latency, and only slow_untypical_ms decides what is slow.",
  },
  {
    name: "opening_bad_run",
    value: 3,
    unit: "samples",
    reason: "Single bad samples are common on the public internet; runs of three are not.",
  },
  {
    name: "partial_windows",
    value: 3,
    unit: "windows",
    reason:
      "When a fifth of the samples fail over three consecutive windows, with failures in each, clients are affected although no three samples in a row fail: three bad minutes then replace three bad samples.",
  },
  {
    name: "vote_max_age_ms",
    value: 60_000,
    unit: "ms",
    reason: "A region whose newest sample is a minute old is not reporting, and has no vote.",
  },
  {
    name: "vote_max_age_cadences",
    value: 2,
    unit: "cadences",
    reason: "A slow endpoint may miss one of its slots before its region counts as silent.",
  },
  {
    name: "refusal_pause_ms",
    value: 120_000,
    unit: "ms",
    reason:
      "A probe that is limited or blocked pauses for up to two minutes of its own choice. Until it asks again, the last refusals stand.",
  },
  {
    name: "quorum_min_regions",
    value: 2,
    unit: "regions",
    reason:
      "One region alone may be blocked or have a bad route. Where several regions are published, at least two must agree, even while the others are silent.",
  },
  {
    name: "blocked_min_vantages",
    value: 2,
    unit: "vantages",
    reason:
      "A refusal (403 or 451) is usually about the place that asks: its country, its network, its address. Only when two places are refused at once does the venue refuse everybody.",
  },
  {
    name: "impaired_min_venues",
    value: 4,
    unit: "venues",
    reason:
      "Of three venues, two with independent faults are more than half; of four or more, three have to turn bad together in one region only.",
  },
  {
    name: "impaired_venue_share",
    value: 0.5,
    unit: "share",
    reason:
      "When more than half of the venues that a region measures turn bad at once, and no other region agrees, the region is at fault. While that many are turning bad, incidents do not open yet.",
  },
  {
    name: "impaired_within_ms",
    value: 120_000,
    unit: "ms",
    reason:
      "At once means within two minutes: the slowest endpoints need that long to turn bad. A component that has been bad for longer, for example because the venue blocks the region, is no sign of a failing network. A region whose network seems to fail still confirms components that have been bad for longer.",
  },
  {
    name: "outlier_after_ms",
    value: 600_000,
    unit: "ms",
    reason:
      "A region that has seen a component bad for ten minutes without a quorum is blocked by the venue, or its route is broken. It would form a quorum with any other region that has a bad moment, so the others must agree without it. An outage that spreads from region to region does so within minutes.",
  },
  {
    name: "recovery_hold_ms",
    value: 60_000,
    unit: "ms",
    reason:
      "An incident closes after its component has been confirmed operational for a full minute, so that a short recovery during an outage does not end it.",
  },
  {
    name: "flap_openings",
    value: 3,
    unit: "incidents",
    reason:
      "A component whose incidents open for the third time within an hour is flapping: this is one problem, and should be one incident.",
  },
  {
    name: "flap_within_ms",
    value: 3_600_000,
    unit: "ms",
    reason: "The period in which openings are counted as flapping: an hour.",
  },
  {
    name: "flap_hold_ms",
    value: 600_000,
    unit: "ms",
    reason:
      "A flapping component must stay operational for ten minutes: a relapse before that extends the incident without a new alert. An incident whose regions can no longer confirm its end waits equally long.",
  },
  {
    name: "unmeasured_close_ms",
    value: 86_400_000,
    unit: "ms",
    reason:
      "When for a whole day no quorum has seen a component bad, and none has confirmed it operational for the hold, the end of its incident can no longer be measured: it closes with that reason.",
  },
  {
    name: "retraction_ms",
    value: 600_000,
    unit: "ms",
    reason:
      "Most samples that a probe could not deliver at once arrive within minutes. If they show an opening to be wrong, the engine retracts it within ten minutes; after that, an operator must.",
  },
  {
    name: "retraction_every_ms",
    value: 10_000,
    unit: "ms",
    reason: "Recent openings are checked again every ten seconds: late information arrives over minutes.",
  },
  {
    name: "late_sample_ms",
    value: 15_000,
    unit: "ms",
    reason:
      "A measurement ends within its cadence and is delivered in a second or two. A sample that arrives more than 15 seconds after its slot was held up, and can show in hindsight that an opening was wrong; a measurement that merely took long cannot.",
  },
  {
    name: "late_alert_ms",
    value: 60_000,
    unit: "ms",
    reason:
      "An alert recorded more than a minute after its instant is marked late: the engine was not running then, and the alert is not news.",
  },
  {
    name: "catch_up_ms",
    value: 86_400_000,
    unit: "ms",
    reason:
      "After a pause the engine decides what it missed, for up to a day. Older instants are no longer actionable, and deciding them would delay current ones.",
  },
  {
    name: "silent_after_ms",
    value: 300_000,
    unit: "ms",
    reason:
      "When the engine has decided nothing for five minutes, its last states are out of date: every state reads unknown.",
  },
] as const satisfies Rule[];

/** The rules as one row of `engine.rules`. */
export type RulesRow = Record<(typeof engineRules)[number]["name"], number>;

export const rulesRow = Object.fromEntries(engineRules.map(({ name, value }) => [name, value])) as RulesRow;

/** The name in `/v1/thresholds`. */
export function publicName(name: string): string {
  return name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}
