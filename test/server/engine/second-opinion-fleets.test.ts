/**
 * The engine and the second opinion on random fleets with impaired regions, however the engine gets to see their
 * samples.
 */
import t from "tap";
import { agree } from "../../support/agreement.js";
import { migratedDatabase } from "../../support/database.js";
import { randomRuns, rulesOfTheBook } from "../../support/random-runs.js";
import { componentWorlds, cutAtRandom, fleets, hasPause, inBatches } from "../../support/random-worlds.js";

void t.test("the engine and the second opinion agree", async (t) => {
  const { pool } = await migratedDatabase(t);
  const fewFleets = (seed: number) => fleets(seed, 3, rulesOfTheBook);
  const fewComponents = (seed: number) => componentWorlds(seed, 40, rulesOfTheBook);

  await t.test("on random fleets", async (t) => {
    const make = (seed: number) => fleets(seed, 6, rulesOfTheBook);
    for (const run of randomRuns(make, 1)) await agree(t, pool, run);
  });

  await t.test("for any division of time", async (t) => {
    for (const make of [fewFleets, fewComponents])
      for (const run of randomRuns(make, 1))
        if (!hasPause(run)) await agree(t, pool, run, { comesBy: cutAtRandom(run) });
  });

  await t.test("for any order of samples, with duplicates", async (t) => {
    for (const make of [fewFleets, fewComponents])
      for (const run of randomRuns(make, 1)) await agree(t, pool, run, { batches: inBatches(run) });
  });
});
