/**
 * The engine and the second opinion on random worlds. `RANDOM_WORLDS_SEED` makes others, `RANDOM_WORLDS_RUNS` more of
 * them; `RANDOM_WORLDS_ONLY` judges one world of the first run alone, as a failure tells.
 */
import t, { type Test } from "tap";
import type { Pool } from "../server/db.js";
import { rules } from "../server/engine/rules.js";
import { migratedDatabase } from "./database.js";
import {
  decide,
  engineLines,
  engineRecords,
  type EngineRecords,
  insertSamples,
  opinionLines,
  watch,
} from "./engine-on-worlds.js";
import { componentWorlds, fleets, only, type Run } from "./random-worlds.js";
import { type Opinion, secondOpinion } from "./second-opinion.js";
import type { Rules, World } from "./second-opinion/world.js";
import { textOf, worldOf } from "./world-text.js";

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
    await agree(t, pool, chosen(componentWorlds(seed, 250, usual)));
});

void t.test("worlds in which they once differed", async (t) => {
  const { pool } = await migratedDatabase(t);
  for (const [what, text] of Object.entries(onceDiffering)) {
    const worlds = [worldOf(text, usual)];
    await t.test(what, (t) => agree(t, pool, { seed: 0, worlds }));
  }
});

void t.test("fleets whose regions are impaired", async (t) => {
  const { pool } = await migratedDatabase(t);
  for (const seed of seeds)
    await agree(t, pool, chosen(fleets(seed, 8, usual)));
});

const onceDiffering = {
  "a witness that has been silent since before a pause has seen nothing": `
    from 2026-03-10T09:00:00Z, 80 instants every 5s
    rules catch_up_ms=5000
    away from 100s to 160s
    regions eu us
    okx rest:ticker, every 5s
    eu .*12 x*6
    us from 130s .*60`,
  "components are named in the order of their names": `
    from 2026-03-10T09:00:00Z, 20 instants every 5s
    regions eu us
    okx rest:ticker, every 5s
    eu .*5 x*15
    okx rest:book, every 5s
    eu .*5 x*15`,
  "a half of a microsecond is not slow": `
    from 2026-03-10T09:00:00Z, 20 instants every 5s
    rules slow_multiple=2.1 slow_floor_ms=0
    regions eu
    okx rest:ticker, every 5s
    eu typical 2026-03-10T06:00:00Z 100.001ms
    eu 210.002ms*20`,
};

/** What the two say of one world, the first time that they differ. */
interface Disagreement {
  at: string;
  engine: string[];
  opinion: string[];
}

async function agree(t: Test, pool: Pool, run: Run): Promise<void> {
  const { worlds, seed } = run;
  const opinions = worlds.map(secondOpinion);
  const differing = new Map<World, Disagreement>();
  const note = (at: string, engine: string, opinion: string) => {
    if (engine === opinion) return;
    for (const world of worlds) {
      const ours = linesOf(world, opinion);
      const its = linesOf(world, engine);
      if (differing.has(world) || ours.join() === its.join()) continue;
      differing.set(world, {
        at,
        engine: its.filter((line) => !ours.includes(line)),
        opinion: ours.filter((line) => !its.includes(line)),
      });
    }
  };
  const t0 = performance.now();
  let tTick = 0,
    tLines = 0;
  await watch(pool, run);
  await insertSamples(
    pool,
    worlds.flatMap(({ samples }) => samples),
  );
  const t1 = performance.now();
  for (const [place, at] of worlds[0]!.instants.entries()) {
    const a = performance.now();
    await decide(pool, run, at);
    const b = performance.now();
    const moments = opinions.map(({ moments }) => moments[place]!);
    note(
      new Date(at).toISOString(),
      await engineLines(pool),
      opinionLines(moments),
    );
    tTick += b - a;
    tLines += performance.now() - b;
  }
  const engine = await engineRecords(pool);
  note("the end", recordLines(engine), recordLines(joined(opinions)));
  t.comment({
    insert: t1 - t0,
    tTick,
    tLines,
    per: tTick / worlds[0]!.instants.length,
  });

  for (const [world, disagreement] of [...differing].slice(0, 3)) {
    const index = worlds.indexOf(world);
    t.fail(`seed ${seed}, world ${index}`, {
      disagreement,
      world: textOf(world, usual),
    });
  }
  t.equal(
    differing.size,
    0,
    `seed ${seed}: ${engine.incidents.length} incidents`,
  );
}

/** Those that speak of this world. */
function linesOf({ venues }: World, lines: string): string[] {
  return lines
    .split("\n")
    .filter((line) => venues.some(({ id }) => line.startsWith(`${id} `)));
}

function joined(opinions: Opinion[]): EngineRecords {
  return {
    incidents: opinions.flatMap(({ incidents }) => incidents),
    alerts: opinions.flatMap(({ alerts }) => alerts),
    impairments: opinions.flatMap(({ impairments }) => impairments),
  };
}

/** In an order that does not depend on how worlds are joined. */
function recordLines({
  incidents,
  alerts,
  impairments,
}: EngineRecords): string {
  const venueOf = new Map(incidents.map(({ slug, venue }) => [slug, venue]));
  const sorted = (lines: string[]) => lines.toSorted();
  return [
    ...sorted(
      incidents.map(
        (i) =>
          `${i.venue} ${i.slug} of ${i.component}: ${i.severity}, peak ${i.peak}, started ${time(i.startedAt)}, opened ${time(i.openedAt)}, escalated ${time(i.escalatedAt)}, last bad ${time(i.lastBadAt)}, closed ${time(i.closedAt)}, retracted ${time(i.retractedAt)}, ${i.flapping ? "" : "not "}flapping, seen by ${i.witnesses.join(" ")}`,
      ),
    ),
    ...sorted(
      alerts.map(
        (a) =>
          `${venueOf.get(a.slug)} ${a.slug} alert ${a.kind} ${a.severity} at ${time(a.at)}, ${a.dropped ? "" : "not "}dropped`,
      ),
    ),
    ...sorted(
      impairments.map(
        (i) =>
          `${i.venues[0]} impaired in ${i.region} from ${time(i.startedAt)}, recognised ${time(i.recognisedAt)}, ended ${time(i.endedAt)}, by ${i.venues.join(" ")}`,
      ),
    ),
  ].join("\n");
}

function time(at: number | null): string {
  return at === null ? "never" : new Date(at).toISOString();
}
