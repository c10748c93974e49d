/** The rules and instants that all worlds of a run share. */
import type { Rules, World } from "../../second-opinion/world.js";
import { Dice } from "./dice.js";

export type Frame = Pick<World, "rules" | "instants">;

/** A world without its samples. */
export type Unfilled = Frame & Pick<World, "regions" | "venues" | "vantages">;

export const minuteMs = 60_000;
export const dayMs = 24 * 60 * minuteMs;

/**
 * Makes a run's rules, instants and cadences. Every third run has the rule book's numbers, the others mostly shorter
 * ones. Every fourth has a pause that the engine does not catch up with.
 */
export function frameOf(seed: number, dice: Dice, usual: Rules): Frame & { cadencesS: number[] } {
  const kind = (["own", "quick", "slow"] as const)[seed % 3]!;
  const [stepMs, count] = {
    own: [5_000, 90] as const,
    quick: dice.weighted([[2_000, 90] as const, [5_000, 60] as const]),
    slow: [10_000, 60] as const,
  }[kind];
  const rules = { ...(kind === "own" ? usual : varied(usual, dice)), step_ms: stepMs };
  const midst = dice.weighted(["2026-03-10T09:00:00Z", "2026-03-10T12:10:00Z", "2026-03-11T00:00:00Z"]);
  const begins = Date.parse(midst) - dice.whole(Math.ceil(count / 4), Math.floor((3 * count) / 4)) * stepMs;
  const instants = Array.from({ length: count }, (_, i) => begins + i * stepMs);
  // the slowest component determines how much is read at each instant, for all of them
  const cadencesS = kind === "slow" ? [15, 30, 30, 60] : [5, 5, 10];
  if (seed % 4 !== 2) return { rules, instants, cadencesS };
  const from = dice.whole(Math.ceil(count / 4), count / 2);
  return {
    rules: { ...rules, catch_up_ms: rules.step_ms },
    instants: instants.toSpliced(from, dice.whole(3, 20)),
    cadencesS,
  };
}

function varied(usual: Rules, dice: Dice): Rules {
  return {
    ...usual,
    slow_multiple: dice.weighted([3, 2.5, 1.75]),
    slow_floor_ms: dice.weighted([500, 40]),
    slow_untypical_ms: dice.weighted([3_000, 1_000]),
    window_ms: dice.weighted([20_000, 30_000, 60_000]),
    window_cadences: dice.weighted([4, 6]),
    vote_max_age_ms: dice.weighted([15_000, 30_000, 60_000]),
    min_samples: dice.weighted([2, 3]),
    gap_room_samples: dice.weighted([3, 2, 1]),
    partial_windows: dice.weighted([2, 3]),
    quorum_min_regions: dice.weighted([1, 2, 2, 2, 3]),
    opening_bad_run: dice.weighted([1, 2, 3, 3]),
    recovery_hold_ms: dice.weighted([10_000, 30_000, 60_000]),
    flap_openings: dice.weighted([2, 3]),
    flap_within_ms: dice.weighted([120_000, 300_000]),
    flap_hold_ms: dice.weighted([60_000, 120_000]),
    unmeasured_close_ms: dice.weighted([30_000, 90_000, 120_000]),
    retraction_every_ms: dice.weighted([10_000, 20_000, 60_000]),
    retraction_ms: dice.weighted([60_000, 120_000, 600_000]),
    late_sample_ms: dice.weighted([4_000, 8_000, 15_000]),
    impaired_within_ms: dice.weighted([30_000, 60_000, 120_000]),
    impaired_min_venues: dice.weighted([3, 4, 5]),
    blocked_min_vantages: dice.weighted([1, 2, 2, 2, 3]),
    refusal_pause_ms: dice.weighted([20_000, 60_000, 120_000]),
    outlier_after_ms: dice.weighted([60_000, 60_000, 120_000, 600_000]),
    degraded_min_failed: dice.weighted([1, 2, 2, 3]),
  };
}
