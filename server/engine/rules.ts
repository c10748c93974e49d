/**
 * The constants of the engine: each number once, with its unit and its reason. What they do is written down in
 * docs/rulebook.md. `engine.rules` in SQL has the same fields; core hands them to every tick.
 */
import type { Rule } from "../../shared/measurement/rule.js";

export const rules = [
  {
    name: "step_ms",
    value: 2_000,
    unit: "ms",
    reason:
      "The engine decides at every even second. A fault that all regions see is an incident a step after its third bad sample has come in; deciding more often would gain less than samples differ in when they come.",
  },
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
    reason: "A slow endpoint is judged by its last six samples, since its last minute would hold too few.",
  },
  {
    name: "min_samples",
    value: 3,
    unit: "samples",
    reason: "With fewer samples in the window a single one would decide: the state is unknown.",
  },
  {
    name: "degraded_bad_share",
    value: 0.2,
    unit: "share",
    reason:
      "One failed answer in five is felt by anybody who retries once; below that it is within what networks lose.",
  },
  {
    name: "degraded_min_failed",
    value: 2,
    unit: "samples",
    reason:
      "One failed answer is a hiccup. Where a window holds six, it would be a fifth of them whenever the newest is not in yet.",
  },
  {
    name: "outage_bad_share",
    value: 0.5,
    unit: "share",
    reason: "When every other answer fails, a client cannot work.",
  },
  {
    name: "slow_multiple",
    value: 3,
    unit: "times",
    reason:
      "Latencies vary by half from hour to hour; three times the typical one of the same endpoint from the same region is not weather.",
  },
  {
    name: "slow_floor_ms",
    value: 500,
    unit: "ms",
    reason:
      "Three times 30 ms hurts nobody: below half a second above the typical latency, an endpoint is not called slow.",
  },
  {
    name: "slow_untypical_ms",
    value: 3_000,
    unit: "ms",
    reason:
      "Until an endpoint's typical latency is known, which takes hours, an answer that takes three seconds is slow: no client of a trading API plans for that.",
  },
  {
    name: "typical_days",
    value: 7,
    unit: "days",
    reason:
      "Every hour of the day and every day of the week counts once in what is typical, and a day of trouble cannot move the median.",
  },
  {
    name: "typical_min_hours",
    value: 6,
    unit: "hours",
    reason: "With fewer measured hours nobody knows what is typical, and nothing is called slow.",
  },
  {
    name: "opening_bad_run",
    value: 3,
    unit: "samples",
    reason:
      "Three bad samples in a row are no hiccup: single ones are common on the public internet, runs of three are not.",
  },
  {
    name: "partial_windows",
    value: 3,
    unit: "windows",
    reason:
      "When a fifth fails for three windows on end, with a failure in each of them, clients are hurt although no three samples in a row fail: three bad minutes take the place of three bad samples.",
  },
  {
    name: "vote_max_age_ms",
    value: 60_000,
    unit: "ms",
    reason: "A region whose newest sample is a minute old does not report, and has no vote.",
  },
  {
    name: "vote_max_age_cadences",
    value: 2,
    unit: "cadences",
    reason: "A slow endpoint may miss one of its slots before its region counts as silent.",
  },
  {
    name: "quorum_min_regions",
    value: 2,
    unit: "regions",
    reason:
      "One region alone may be blocked or have a bad route. Where others are published, at least two have to agree, also while the others are silent.",
  },
  {
    name: "impaired_min_venues",
    value: 4,
    unit: "venues",
    reason:
      "With fewer venues their own troubles can coincide; four that turn bad together in one region alone have the region in common.",
  },
  {
    name: "impaired_venue_share",
    value: 0.5,
    unit: "share",
    reason:
      "When more than half of what a region measures turns bad at once, and no other region agrees, it is the region. When as much begins to turn bad, openings wait.",
  },
  {
    name: "impaired_within_ms",
    value: 120_000,
    unit: "ms",
    reason:
      "At once means within two minutes: the slowest endpoints need that long to turn bad. What has been bad for longer, such as a block of that region by a venue, is no sign of a failing network. A region whose network seems to fail confirms what it has seen bad for longer.",
  },
  {
    name: "outlier_after_ms",
    value: 600_000,
    unit: "ms",
    reason:
      "A region that has seen a component bad for ten minutes, and no quorum with it, is blocked there, or its way is broken. It would make a quorum with any other region that has a bad moment, so others have to agree without it. An outage that spreads from region to region does so within minutes.",
  },
  {
    name: "recovery_hold_ms",
    value: 60_000,
    unit: "ms",
    reason:
      "An incident closes after its component was confirmed operational for a minute on end, so that a short good spell within an outage does not end it.",
  },
  {
    name: "flap_openings",
    value: 3,
    unit: "incidents",
    reason:
      "The third opening of a component within the hour is flapping: it is one trouble, and one incident should say so.",
  },
  {
    name: "flap_within_ms",
    value: 3_600_000,
    unit: "ms",
    reason: "How close together openings have to be to count as flapping.",
  },
  {
    name: "flap_hold_ms",
    value: 600_000,
    unit: "ms",
    reason:
      "A flapping component has to stay well for ten minutes: a relapse before that extends the incident and alerts nobody again. An incident whose witnesses cannot see its end waits as long.",
  },
  {
    name: "unmeasured_close_ms",
    value: 86_400_000,
    unit: "ms",
    reason:
      "When no quorum has seen a component bad for a whole day, and none could see it well for the hold, nobody will learn how its incident ended: it closes, and says so.",
  },
  {
    name: "retraction_ms",
    value: 600_000,
    unit: "ms",
    reason:
      "Samples that a probe could not deliver at once mostly come within minutes. An opening that they show to have been wrong is taken back within ten; after that it takes an operator.",
  },
  {
    name: "retraction_every_ms",
    value: 10_000,
    unit: "ms",
    reason: "Openings are judged anew every ten seconds: what is learnt in hindsight is learnt over minutes.",
  },
  {
    name: "late_sample_ms",
    value: 15_000,
    unit: "ms",
    reason:
      "A measurement ends within its cadence and is delivered in a second or two. What is known only a quarter of a minute after its slot was held up, and can show in hindsight that an opening was wrong; what merely took its time cannot.",
  },
  {
    name: "late_alert_ms",
    value: 60_000,
    unit: "ms",
    reason:
      "An alert that is recorded more than a minute after the instant that it tells of is marked late: the engine had been away, and a reader should not take it for news.",
  },
  {
    name: "catch_up_ms",
    value: 86_400_000,
    unit: "ms",
    reason:
      "After a pause the engine decides what it missed, for up to a day. What is older is history that nobody acts on, and walking it would keep the present waiting.",
  },
  {
    name: "silent_after_ms",
    value: 300_000,
    unit: "ms",
    reason:
      "When the engine has decided nothing for five minutes, nothing that it said is shown as current: every state reads unknown.",
  },
] as const satisfies Rule[];

/** The rules as one row of `engine.rules`. */
export type RulesRow = Record<(typeof rules)[number]["name"], number>;

export const rulesRow = Object.fromEntries(rules.map(({ name, value }) => [name, value])) as RulesRow;

/** As `/v1/thresholds` prints it. */
export function publicName(name: string): string {
  return name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}
