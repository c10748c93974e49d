/**
 * The engine and the second opinion on random fleets with impaired regions, and on worlds in which nobody measures for
 * a while, however the engine gets to see their samples.
 */
import t from "tap";
import { agree } from "../../../support/agreement.js";
import { migratedDatabase } from "../../../support/database.js";
import { everythingDecided } from "../../../support/decisions.js";
import { randomRuns, rulesOfTheBook } from "../../../support/random-runs.js";
import { componentWorlds, cutAtRandom, fleets, inBatches } from "../../../support/random-worlds.js";
import { gappedFrameOf } from "../../../support/random-worlds/frame.js";

const fewFleets = (seed: number) => fleets(seed, 3, rulesOfTheBook);
const fewComponents = (seed: number) => componentWorlds(seed, 40, rulesOfTheBook);
const gappedFleet = (seed: number) => fleets(seed, 3, rulesOfTheBook, gappedFrameOf);
const gappedComponents = (seed: number) => componentWorlds(seed, 12, rulesOfTheBook, gappedFrameOf);

void t.test("the engine and the second opinion agree", async (t) => {
  const { pool } = await migratedDatabase(t);

  await t.test("on random fleets", async (t) => {
    const make = (seed: number) => fleets(seed, 6, rulesOfTheBook);
    for (const run of randomRuns(make, 1)) await agree(t, pool, run);
  });

  await t.test("for any division of time", async (t) => {
    let skippedFirst: number | null = null;
    for (const make of [fewFleets, fewComponents, gappedFleet, gappedComponents])
      for (const run of randomRuns(make, 1)) {
        const all = await agree(t, pool, run);
        // with the evidence and the history of states, of which the second opinion says nothing
        const expected = await everythingDecided(pool);
        const skipped = all - (await agree(t, pool, run, { comesBy: cutAtRandom(run) }));
        // in others, slow cadences or a short limit may leave none to skip
        if (run.seed === 1) skippedFirst = (skippedFirst ?? 0) + skipped;
        t.strictSame(await everythingDecided(pool), expected, "an engine that was away leaves the same records");
      }
    if (skippedFirst !== null) t.ok(skippedFirst > 0, `${skippedFirst} instants without an event were skipped`);
  });

  await t.test("for any order of samples, with duplicates", async (t) => {
    for (const make of [fewFleets, fewComponents])
      for (const run of randomRuns(make, 1)) await agree(t, pool, run, { batches: inBatches(run) });
  });
});
