/**
 * Worlds in which much goes wrong, and many values are exactly on a limit. The same seed makes the same worlds.
 *
 * A run consists of many worlds that share only rules and instants: one engine judges them together, and the second
 * opinion judges each one alone.
 */
import type { Component, Rules, Sample, Vantage, World } from "../second-opinion/world.js";
import { Dice } from "./random-worlds/dice.js";
import { withSamples } from "./random-worlds/world-samples.js";
import { dayMs, type Frame, frameOf } from "./random-worlds/frame.js";
import { reachingRegionsInTurn, regionalTroubles } from "./random-worlds/regional-troubles.js";
import { blocked, preventedSlots, troublesOf } from "./random-worlds/troubles.js";

export interface Run {
  seed: number;
  worlds: World[];
}

/** Makes worlds of one venue, in which regions are never impaired. They share their one to four regions. */
export function componentWorlds(seed: number, count: number, rules: Rules, makeFrame = frameOf): Run {
  const dice = new Dice(seed);
  const { cadencesS, ...frame } = makeFrame(seed, dice, rules);
  frame.rules.impaired_min_venues = 1_000_000;
  // less often than the rule book's ten seconds: the run has far more incidents at once than in practice, and judging
  // them again is slow
  frame.rules.retraction_every_ms = dice.weighted([20_000, 60_000]);
  const regions = ["ra", "rb", "rc", "rd"].slice(0, [4, 4, 3, 2, 1][seed % 5]);
  const worlds = Array.from({ length: count }, (_, i) => {
    const own = new Dice(seed * 10_007 + i);
    const measuring = own.some(regions);
    const components = componentsFor(own, frame, own.weighted([1, 1, 1, 2, 3]), cadencesS);
    const world = { ...frame, regions, venues: [{ id: `w${i}`, components }], vantages: [] };
    const inCommon = own.happens(0.3) ? troublesOf(own, frame, components[0]!, measuring) : null;
    const prevented = own.happens(0.3) ? preventedSlots(own, frame, measuring) : [];
    return withSamples(world, own, (component) => [
      ...(inCommon ?? troublesOf(own, frame, component, measuring)),
      ...prevented,
    ]);
  });
  return { seed, worlds };
}

/** Makes small fleets, in which regions are impaired. Each has its own regions; a single fleet may have one alone. */
export function fleets(seed: number, count: number, rules: Rules, makeFrame = frameOf): Run {
  const { cadencesS, ...frame } = makeFrame(seed, new Dice(seed), rules);
  const alone = seed % 6 === 5;
  // each fleet has at least as many regions, and together the fleets are one registry
  frame.rules.quorum_min_regions = Math.min(frame.rules.quorum_min_regions, 2);
  const worlds = Array.from({ length: alone ? 1 : count }, (_, i) => {
    const own = new Dice(seed * 10_007 + i);
    const regions = ["a", "b", "c", "d"]
      .slice(0, alone ? 1 : own.weighted([2, 3, 3, 4]))
      .map((letter) => `f${i}${letter}`);
    const venues = Array.from({ length: own.whole(5, 7) }, (_, v) => ({
      id: `f${i}v${v}`,
      components: componentsFor(own, frame, own.weighted([1, 1, 2, 3]), cadencesS),
    }));
    const vantages = vantagesFor(own, frame, regions, `m${i}`);
    const world = { ...frame, regions, venues, vantages };
    const regional = [
      ...regionalTroubles(own, world),
      ...(own.happens(0.4) ? [reachingRegionsInTurn(own, world)] : []),
    ];
    const most = frame.silences.length > 0 ? 8 : 2;
    return withSamples(world, own, (component, venue) => [
      ...(own.happens(0.4) ? troublesOf(own, frame, component, regions).slice(0, most) : []),
      ...(own.happens(0.15) ? blocked(own, frame, regions) : []),
      ...regional.flatMap((trouble) => trouble(venue)),
    ]);
  });
  return { seed, worlds };
}

/**
 * Picks the instants at which an engine comes that is away for one step, a few minutes or half of the time. It comes
 * after each act of an operator, and never too late to catch up, except where the run has such a pause.
 */
export function cutAtRandom({ seed, worlds }: Run): number[] {
  const dice = new Dice(seed);
  const { instants, rules } = worlds[0]!;
  const acts = new Set(worlds.flatMap(({ retractions }) => retractions.map(({ at }) => at)));
  const follows = (place: number) => instants[place]! - instants[place - 1]! === rules.step_ms;
  const comesBy = [instants[0]!];
  let place = 0;
  while (place < instants.length - 1) {
    const longest = Math.max(50, Math.floor(instants.length / 2));
    const steps = Math.min(dice.weighted([1, 1, 2, dice.whole(3, longest)]), rules.catch_up_ms / rules.step_ms);
    const from = place;
    place += 1;
    if (!follows(place)) place = instants.indexOf(instants[place]! + rules.catch_up_ms);
    else while (place - from < steps && follows(place + 1) && !acts.has(instants[place]!)) place += 1;
    comesBy.push(instants[place]!);
  }
  return comesBy;
}

/** Returns its samples as they become known, in random order within a batch. A few come again, with other content. */
export function inBatches({ seed, worlds }: Run) {
  const dice = new Dice(seed);
  const { instants } = worlds[0]!;
  const batches = instants.map((by) => ({ by, samples: [] as Sample[] }));
  for (const sample of worlds.flatMap(({ samples }) => samples)) {
    const knownAt = sample.ts + sample.receivedAfterS * 1000;
    const first = batches.findIndex(({ by }) => by >= knownAt);
    batches[first]?.samples.push(sample);
    if (first < 0 || dice.happens(0.9)) continue;
    const fault = sample.fault ? null : "timeout";
    const again = { ...sample, fault, unserved: false };
    batches[first + dice.whole(1, 5)]?.samples.push(again);
  }
  return batches.map(({ by, samples }) => ({ by, samples: dice.shuffled(samples) }));
}

function componentsFor(dice: Dice, { instants }: Frame, count: number, cadencesS: number[]): Component[] {
  const alike = dice.happens(0.5);
  const draw = () => ({
    kind: dice.weighted(["rest", "rest", "ws"] as const),
    cadenceMs: dice.weighted(cadencesS) * 1000,
  });
  const first = draw();
  const socket = dice.happens(0.2);
  return ["ticker", "book", "trades"].slice(0, count).map((name, place) => {
    const of = { isNew: dice.happens(0.15), endsAt: dice.happens(0.05) ? dice.weighted(instants) : null };
    if (socket && place === 0) return { ...first, ...of, id: "ws:conn", kind: "ws" };
    const { kind, cadenceMs } = alike ? first : draw();
    return { ...of, id: `${kind}:${name}`, kind, cadenceMs };
  });
}

/** Puts all regions or two of them on one machine, all along or for some time, or reports no machines. */
function vantagesFor(dice: Dice, { instants, rules }: Frame, regions: string[], machine: string): Vantage[] {
  const on = (region: string, holdsFrom: number, machine: string | null) => ({ region, holdsFrom, machine });
  const before = instants[0]! - dayMs;
  const two = regions.slice(0, 2);
  const together = dice.weighted([[], regions, two, two]);
  const vantages = regions.flatMap((region): Vantage[] => {
    if (together.includes(region)) return [on(region, before, machine)];
    // another machine, several machines, or no report
    return dice.weighted([[on(region, before, `${machine}-${region}`)], [on(region, before, null)], []]);
  });
  if (dice.happens(0.7)) return vantages;
  const moved = dice.weighted(regions);
  const at = dice.weighted(instants) + dice.weighted([0, 0, 1]);
  const lastsMs = dice.whole(1, 40) * rules.step_ms;
  return [
    ...vantages,
    on(moved, at, dice.weighted([machine, null])),
    on(moved, at + lastsMs, dice.weighted([machine, null])),
  ];
}
