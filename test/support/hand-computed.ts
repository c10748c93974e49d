/** Small worlds from noon on with the rule book's numbers, and what the second opinion says of them. */
import { secondOpinion } from "./second-opinion.js";
import type { Rules } from "../second-opinion/world.js";
import { worldOf } from "./world-text.js";

const rules: Rules = {
  step_ms: 5_000,
  catch_up_ms: 86_400_000,
  window_ms: 60_000,
  window_cadences: 6,
  vote_max_age_ms: 60_000,
  vote_max_age_cadences: 2,
  min_samples: 3,
  slow_multiple: 3,
  slow_floor_ms: 500,
  slow_untypical_ms: 3_000,
  outage_bad_share: 0.5,
  degraded_bad_share: 0.2,
  degraded_min_failed: 2,
  partial_windows: 3,
  impaired_within_ms: 120_000,
  impaired_min_venues: 4,
  impaired_venue_share: 0.5,
  outlier_after_ms: 600_000,
  quorum_min_regions: 2,
  opening_bad_run: 3,
  recovery_hold_ms: 60_000,
  flap_openings: 3,
  flap_within_ms: 3_600_000,
  flap_hold_ms: 600_000,
  unmeasured_close_ms: 86_400_000,
  retraction_every_ms: 60_000,
  late_sample_ms: 15_000,
  retraction_ms: 600_000,
};

export const noon = Date.parse("2026-01-15T12:00:00Z");
export const after = (seconds: number) => noon + seconds * 1000;

/** From noon, every five seconds. */
export function judge(instants: number, regions: string, text: string) {
  const head = `from 2026-01-15T12:00:00Z, ${instants} instants every 5s`;
  return secondOpinion(worldOf(`${head}\nregions ${regions}\n${text}`, rules));
}

export type JudgedByHand = ReturnType<typeof judge>;

export function momentAt({ moments }: JudgedByHand, seconds: number) {
  const moment = moments.find(({ at }) => at === after(seconds));
  if (!moment) throw new Error(`expected an instant at +${seconds}s`);
  return moment;
}

export function viewAt(judged: JudgedByHand, seconds: number, region = "eu") {
  return momentAt(judged, seconds).views.find((v) => v.region === region)!;
}

export function statesOf(judged: JudgedByHand, what: "components" | "venues") {
  const changes: string[] = [];
  for (const moment of judged.moments)
    for (const one of moment[what])
      if (one.since === moment.at) changes.push(`+${(moment.at - noon) / 1000}s ${one.state}`);
  return changes;
}

/** The course of incidents, in seconds since noon. */
export function lives(judged: JudgedByHand) {
  const s = (at: number | null) => (at === null ? null : (at - noon) / 1000);
  return judged.incidents.map((one) => ({
    slug: one.slug,
    started: s(one.startedAt),
    opened: s(one.openedAt),
    escalated: s(one.escalatedAt),
    lastBad: s(one.lastBadAt),
    closed: s(one.closedAt),
    closedFor: one.closedFor,
    retracted: s(one.retractedAt),
    flapping: one.flapping,
    witnesses: one.witnesses.join(" "),
  }));
}

/** One endpoint of each venue, with these slots in these regions. */
export function endpoints(venues: Record<string, string>[]) {
  return venues
    .map((of, i) =>
      [`v${i} rest:ticker, every 5s`, ...Object.entries(of).map(([region, slots]) => `${region} ${slots}`)].join("\n"),
    )
    .join("\n");
}
