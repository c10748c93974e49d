/**
 * Compares the engine with the second opinion on random worlds: all states at every instant that is checked, and all
 * records.
 */
import type { Test } from "tap";
import type { Db } from "../../shared/database/pool.js";
import { brokenLaws, changedSince, closedIncidents, openedWithoutQuorum } from "./engine-laws.js";
import {
  catchUp,
  decide,
  engineLines,
  engineRecords,
  type EngineRecords,
  gatherStatistics,
  insertSamples,
  opinionLines,
  recordLines,
  retractByHand,
  watch,
} from "./engine-on-worlds.js";
import { rulesOfTheBook } from "./random-runs.js";
import type { Run } from "./random-worlds.js";
import { type Opinion, secondOpinion } from "./second-opinion.js";
import type { Sample, World } from "../second-opinion/world.js";
import { textOf } from "./world-text.js";

/** How the engine is run on a world; it must make no difference to the result. */
interface Seeing {
  /** The instants at which the engine is called and decides what is due; by default all of them. */
  comesBy?: number[];
  /**
   * Batches of samples. Each is inserted once all of its samples are known, or earlier; by default all at the start.
   */
  batches?: { by: number; samples: Sample[] }[];
}

/** The results of both for one world, where they first differ. */
interface Disagreement {
  /** An instant, or "in the end" when only the records differ. */
  at: string;
  engine: string[];
  opinion: string[];
}

/** Resolves with the number of instants that the engine decided. */
export async function agree(t: Test, db: Db, run: Run, seeing: Seeing = {}): Promise<number> {
  const opinions = run.worlds.map(secondOpinion);
  const { differing, lawless, decided } = await compare(db, run, opinions, seeing);
  for (const [world, disagreement] of [...differing].slice(0, 3))
    t.fail(`world ${run.worlds.indexOf(world)} of seed ${run.seed}`, {
      disagreement,
      world: textOf(world, rulesOfTheBook),
    });
  t.equal(differing.size, 0, `seed ${run.seed}: ${summary(run, opinions)}`);
  t.strictSame(lawless, [], `seed ${run.seed}: no law is broken`);

  const [first] = differing;
  if (first && Object.keys(seeing).length === 0) await reportShortened(t, db, ...first);
  return decided;
}

/** Reports the smallest reduction of this world on which the two still differ. */
async function reportShortened(t: Test, db: Db, world: World, { at }: Disagreement): Promise<void> {
  const differences = async (smaller: World) => {
    const run = { seed: 0, worlds: [smaller] };
    const { differing } = await compare(db, run, [secondOpinion(smaller)], {});
    return [...differing.values()];
  };
  const fails = async (smaller: World) => (await differences(smaller)).length > 0;
  const until = Date.parse(at);
  const begun = Number.isNaN(until) ? world : { ...world, instants: world.instants.filter((at) => at <= until) };
  const least = await shrink(begun, fails, 30_000);
  const [disagreement] = await differences(least);
  t.fail("the same world, reduced to what matters", { disagreement, world: textOf(least, rulesOfTheBook) });
}

async function compare(db: Db, run: Run, opinions: Opinion[], { comesBy, batches }: Seeing) {
  const { worlds } = run;
  const differing = new Map<World, Disagreement>();
  const lawless: string[] = [];
  const past: string[] = [];
  let decided = 0;
  const { instants, rules } = worlds[0]!;
  const waiting = batches?.toSorted((a, b) => a.by - b.by) ?? [];

  await watch(db, run);
  const allSamples = worlds.flatMap(({ samples }) => samples);
  if (!batches) await insertSamples(db, allSamples);
  await gatherStatistics(db);
  for (const [place, at] of instants.entries()) {
    while (waiting.length > 0 && waiting[0]!.by <= at) await insertSamples(db, waiting.shift()!.samples);
    if (place > 0 && comesBy && !comesBy.includes(at)) continue;
    const missed = place > 0 && at - instants[place - 1]! > rules.step_ms;
    if (place > 0 && comesBy) decided += await catchUp(db, run, at);
    else {
      decided += 1;
      const { opened, closed } = await decide(db, run, at, missed);
      if (opened.length > 0) lawless.push(...(await openedWithoutQuorum(db, rules)));
      if (closed.length > 0) past.push(...(await closedIncidents(db, closed)));
    }
    await retractByHand(db, run, at);
    const moments = opinions.map(({ moments }) => moments[place]!);
    note(new Date(at).toISOString(), await engineLines(db), opinionLines(moments));
  }
  const records = await engineRecords(db);
  note("in the end", recordLines(records), recordLines(joined(opinions)));
  lawless.push(...(await brokenLaws(db)), ...(await changedSince(db, past)));
  return { differing, lawless, decided };

  function note(at: string, engine: string, opinion: string) {
    if (engine === opinion) return;
    for (const world of worlds) {
      const its = linesOf(world, engine);
      const ours = linesOf(world, opinion);
      if (differing.has(world) || its.join() === ours.join()) continue;
      differing.set(world, {
        at,
        engine: its.filter((line) => !ours.includes(line)),
        opinion: ours.filter((line) => !its.includes(line)),
      });
    }
  }
}

function summary({ worlds }: Run, opinions: Opinion[]): string {
  const { incidents, impairments, outliers } = joined(opinions);
  const that = (is: (one: (typeof incidents)[number]) => boolean) => incidents.filter(is).length;
  return [
    `${worlds.length} worlds at ${worlds[0]!.instants.length} instants`,
    `${incidents.length} incidents`,
    `${that((one) => one.escalatedAt !== null)} escalated`,
    `${that((one) => one.closedAt !== null)} closed`,
    `${that((one) => one.retractedAt !== null)} retracted`,
    `${that((one) => one.flapping)} flapping`,
    `${impairments.length} impairments`,
    `${outliers.length} outliers`,
  ].join(", ");
}

/** Returns the lines about this world. */
function linesOf({ venues }: World, lines: string): string[] {
  return lines
    .split("\n")
    .filter((line) => venues.some(({ id }) => line.startsWith(`${id} `)))
    .toSorted();
}

function joined(opinions: Opinion[]): EngineRecords {
  return {
    incidents: opinions.flatMap(({ incidents }) => incidents),
    alerts: opinions.flatMap(({ alerts }) => alerts),
    impairments: opinions.flatMap(({ impairments }) => impairments),
    outliers: opinions.flatMap(({ outliers }) => outliers),
  };
}

/**
 * Removes from a world what its failure does not need, so that it can be read.
 *
 * @param fails whether a smaller world still fails
 * @param withinMs the time after which no smaller world is tried
 */
async function shrink(world: World, fails: (smaller: World) => Promise<boolean>, withinMs: number): Promise<World> {
  const endsAt = performance.now() + withinMs;
  for (const smaller of smallerThan(world)) {
    if (performance.now() > endsAt) break;
    if (await fails(smaller)) return shrink(smaller, fails, endsAt - performance.now());
  }
  return world;
}

/** Tries the largest reductions first. */
function* smallerThan(world: World): Generator<World> {
  for (const venue of world.venues) yield without(world, (one) => one.venue === venue.id);
  for (const { id, components } of world.venues)
    for (const component of components)
      yield without(world, (one) => one.venue === id && one.component === component.id);
  for (const region of world.regions) yield without(world, (one) => one.region === region);
  const last = world.instants.length - 1;
  for (const place of [last / 2, (last * 7) / 8, last - 1].map(Math.floor))
    if (place > 0) yield { ...world, instants: world.instants.slice(0, place + 1) };
  if (world.vantages.length > 0) yield { ...world, vantages: [] };
  if (world.typical.length > 0) yield { ...world, typical: [] };
  if (world.retractions.length > 0) yield { ...world, retractions: [] };
  yield* calmer(world, (sample) => sample.receivedAfterS > 0, { receivedAfterS: 0 });
  yield* calmer(world, (sample) => sample.unserved, { unserved: false });
  yield* calmer(world, (sample) => sample.fault !== null, { fault: null, unserved: false });
  yield* calmer(world, (sample) => sample.latencyUs !== null, { latencyUs: null });
}

interface Named {
  venue?: string;
  component?: string;
  region?: string;
}

function without(world: World, isGone: (one: Named) => boolean): World {
  return {
    ...world,
    regions: world.regions.filter((region) => !isGone({ region })),
    venues: world.venues
      .map((venue) => ({
        ...venue,
        components: venue.components.filter(({ id }) => !isGone({ venue: venue.id, component: id })),
      }))
      .filter(({ components }) => components.length > 0),
    samples: world.samples.filter((sample) => !isGone(sample)),
    typical: world.typical.filter((one) => !isGone(one)),
    vantages: world.vantages.filter((one) => !isGone(one)),
    retractions: world.retractions.filter((one) => !isGone(one)),
  };
}

/** Makes all such samples like the others, then half of them, down to single ones. */
function* calmer(world: World, is: (sample: Sample) => boolean, change: Partial<Sample>): Generator<World> {
  const such = world.samples.filter(is);
  for (let size = such.length; size >= 1; size = size > 1 ? Math.ceil(size / 2) : 0)
    for (let from = 0; from < such.length; from += size) {
      const some = new Set(such.slice(from, from + size));
      yield {
        ...world,
        samples: world.samples.map((sample) => (some.has(sample) ? { ...sample, ...change } : sample)),
      };
    }
}
