/** The rules, instants and silences that all worlds of a run share. */
import type { Rules, World } from "../../second-opinion/world.js";
import { Dice } from "./dice.js";

export interface Span {
  from: number;
  to: number;
}

export interface Frame extends Pick<World, "rules" | "instants"> {
  /** The instants after which an operator may act: those at which the engine comes, however it is run. */
  actsAt: number[];
  /** Nobody measures within them. */
  silences: Span[];
}

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
  const frame = { rules, instants, actsAt: instants, silences: [], cadencesS };
  if (seed % 4 !== 2) return frame;
  const from = dice.whole(Math.ceil(count / 4), count / 2);
  return awayTooLong(frame, from, dice.whole(3, 20), rules.step_ms);
}

/**
 * Makes a frame of a hundred minutes, most of an hour of which nobody measures, so that an engine that was away skips
 * instants. Slow cadences keep the samples before it within the window. In every second run the engine is once away for
 * longer than it catches up with.
 */
export function gappedFrameOf(seed: number, dice: Dice, usual: Rules): Frame & { cadencesS: number[] } {
  const stepMs = 20_000;
  const count = 300;
  const rules = { ...(seed % 3 === 0 ? usual : varied(usual, dice)), step_ms: stepMs };
  // typical latencies change within the time
  const begins = Date.parse("2026-03-10T12:10:00Z") - dice.whole(10, 90) * minuteMs;
  const instants = Array.from({ length: count }, (_, i) => begins + i * stepMs);
  const silence = (fromMinute: number, lastsMs: number): Span => {
    const from = begins + fromMinute * minuteMs + dice.whole(0, 59_999);
    return { from, to: from + lastsMs };
  };
  const silences = [
    silence(dice.whole(20, 30), dice.whole(40, 55) * minuteMs),
    silence(dice.whole(0, 99), dice.whole(10_000, 10 * minuteMs)),
  ];
  const cadencesS = seed % 4 === 3 ? [60, 300] : [10, 20, 60];
  const frame = { rules, instants, actsAt: instants, silences, cadencesS };
  if (seed % 2 === 1) return frame;
  return awayTooLong(frame, dice.whole(60, 200), dice.whole(20, 60), dice.weighted([5, 10]) * minuteMs);
}

/** Removes some instants: when the engine comes again, they lie further back than it catches up. */
function awayTooLong<One extends Frame>(frame: One, place: number, count: number, catchUpMs: number): One {
  const instants = frame.instants.toSpliced(place, count);
  const comesAgainAt = instants[place]! + catchUpMs;
  return {
    ...frame,
    rules: { ...frame.rules, catch_up_ms: catchUpMs },
    instants,
    actsAt: instants.filter((at, nth) => nth < place || at >= comesAgainAt),
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
