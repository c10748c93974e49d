/**
 * The random worlds that tests judge, the same at each run. `RANDOM_WORLDS_SEED` makes others, `RANDOM_WORLDS_RUNS`
 * makes more, and `RANDOM_WORLDS_ONLY` leaves one world of the first seed, for debugging a failure.
 */
import { engineRules } from "../../shared/rules/engine-rules.js";
import type { Run } from "./random-worlds.js";
import type { Rules } from "../second-opinion/world.js";

export const rulesOfTheBook = Object.fromEntries(
  engineRules.map(({ name, value }) => [name, value]),
) as unknown as Rules;

const { RANDOM_WORLDS_SEED, RANDOM_WORLDS_RUNS, RANDOM_WORLDS_ONLY } = process.env;
const firstSeed = Number(RANDOM_WORLDS_SEED ?? 1);

export function randomRuns(makeRun: (seed: number) => Run, usualCount: number): Run[] {
  if (RANDOM_WORLDS_ONLY !== undefined) {
    const { seed, worlds } = makeRun(firstSeed);
    return [{ seed, worlds: [worlds[Number(RANDOM_WORLDS_ONLY)]!] }];
  }
  const count = Number(RANDOM_WORLDS_RUNS ?? usualCount);
  return Array.from({ length: count }, (_, i) => makeRun(firstSeed + i));
}
