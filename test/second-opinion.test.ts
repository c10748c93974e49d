/**
 * The engine and the second opinion on random worlds, which are the same at each run. `RANDOM_WORLDS_SEED` makes others,
 * `RANDOM_WORLDS_RUNS` more of them; `RANDOM_WORLDS_ONLY` judges one world of the first seed alone.
 */
import t from "tap";
import { rules } from "../server/engine/rules.js";
import { agree } from "./agreement.js";
import { migratedDatabase } from "./database.js";
import {
  componentWorlds,
  cutAtRandom,
  fleets,
  inBatches,
  only,
  type Run,
} from "./random-worlds.js";
import type { Rules } from "./second-opinion/world.js";
import { worldOf } from "./world-text.js";

const usual = Object.fromEntries(
  rules.map(({ name, value }) => [name, value]),
) as unknown as Rules;

const firstSeed = Number(process.env.RANDOM_WORLDS_SEED ?? 1);
const runs = Number(process.env.RANDOM_WORLDS_RUNS ?? 4);
const onlyWorld = process.env.RANDOM_WORLDS_ONLY;
const seeds = Array.from(
  { length: onlyWorld === undefined ? runs : 1 },
  (_, i) => firstSeed + i,
);
const chosen = (run: Run) =>
  onlyWorld === undefined ? run : only(run, Number(onlyWorld));

void t.test("components, several hundred worlds at once", async (t) => {
  const { pool } = await migratedDatabase(t);
  for (const seed of seeds)
    await agree(t, pool, chosen(componentWorlds(seed, 250, usual)), usual);
});

void t.test("fleets whose regions are impaired", async (t) => {
  const { pool } = await migratedDatabase(t);
  for (const seed of seeds)
    await agree(t, pool, chosen(fleets(seed, 8, usual)), usual);
});

void t.test("however time is cut", async (t) => {
  const { pool } = await migratedDatabase(t);
  for (const run of [
    componentWorlds(firstSeed, 30, usual),
    fleets(firstSeed, 3, usual),
  ])
    await agree(t, pool, chosen(run), usual, { comesBy: cutAtRandom(run) });
});

void t.test("in whichever order samples come, and how often", async (t) => {
  const { pool } = await migratedDatabase(t);
  for (const run of [
    componentWorlds(firstSeed, 30, usual),
    fleets(firstSeed, 3, usual),
  ]) {
    const some = chosen(run);
    await agree(t, pool, some, usual, { batches: inBatches(some) });
  }
});

void t.test("worlds in which they once differed", async (t) => {
  const { pool } = await migratedDatabase(t);
  for (const { what, comesBy, text } of onceDiffering) {
    const world = worldOf(text, usual);
    const seeing = comesBy && {
      comesBy: comesBy.map((second) => world.instants[0]! + second * 1000),
    };
    await t.test(what, (t) =>
      agree(t, pool, { seed: 0, worlds: [world] }, usual, seeing),
    );
  }
});

const onceDiffering: { what: string; comesBy?: number[]; text: string }[] = [
  {
    what: "a witness that has been silent since before a pause has seen nothing",
    text: `
      from 2026-03-10T09:00:00Z, 80 instants every 5s
      rules catch_up_ms=5000
      away from 100s to 160s
      regions eu us
      okx rest:ticker, every 5s
      eu .*12 x*6
      us from 130s .*60`,
  },
  {
    what: "less than a microsecond below the limit is not slow",
    text: `
      from 2026-03-10T09:00:00Z, 20 instants every 5s
      rules slow_multiple=2.1 slow_floor_ms=0
      regions eu
      okx rest:ticker, every 5s
      eu typical 2026-03-10T06:00:00Z 100.001ms
      eu 210.002ms*20`,
  },
  {
    what: "those that open at once are named in the order of their components' names",
    text: `
      from 2026-03-10T09:00:00Z, 20 instants every 5s
      regions eu
      okx rest:ticker, every 5s
      eu .*5 x*15
      okx rest:book, every 5s
      eu .*5 x*15`,
  },
  {
    what: "an incident is retracted while nothing is measured, after a pause",
    // the third sample of eu comes just in time to be a vote, those of us just in time for a retraction
    comesBy: [...Array.from({ length: 40 }, (_, i) => i * 10), 1200],
    text: `
      from 2026-03-10T09:00:00Z, 121 instants every 10s
      regions eu us
      okx rest:ticker, every 60s at 55000ms
      eu x*3@115
      us .*3@700`,
  },
  {
    what: "states begin anew when some instants were missed for good",
    comesBy: [...Array.from({ length: 13 }, (_, i) => i * 5), 300],
    text: `
      from 2026-03-10T09:00:00Z, 61 instants every 5s
      rules catch_up_ms=180000
      away from 65s to 120s
      regions eu
      okx rest:ticker, every 5s
      eu .*60`,
  },
];
