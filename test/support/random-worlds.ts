/**
 * Worlds in which much goes wrong, and many values are exactly on a limit. The same seed makes the same worlds.
 *
 * A run consists of many worlds that share only rules and instants: one engine judges them together, and the second
 * opinion judges each one alone.
 */
import { randomFrom } from "./random-samples.js";
import type { Component, Retraction, Rules, Sample, Typical, Vantage, World } from "../second-opinion/world.js";

export interface Run {
  seed: number;
  worlds: World[];
}

/**
 * Makes worlds of one venue, in which regions are never impaired. They share their regions, of which a registry has
 * one, two, three or four.
 */
export function componentWorlds(seed: number, count: number, rules: Rules): Run {
  const dice = new Dice(seed);
  const { cadencesS, ...frame } = frameOf(seed, dice, rules);
  frame.rules.impaired_min_venues = 1_000_000;
  // less often than the rule book's ten seconds: the run has far more incidents at once than in practice, and judging
  // them again is slow
  frame.rules.retraction_every_ms = dice.weighted([20_000, 60_000]);
  const regions = ["ra", "rb", "rc", "rd"].slice(0, [4, 4, 3, 2, 1][seed % 5]);
  const worlds = Array.from({ length: count }, (_, i) => {
    const own = new Dice(seed * 10_007 + i);
    const measuring = own.some(regions);
    const components = componentsFor(own, own.weighted([1, 1, 1, 2, 3]), cadencesS);
    const world = {
      ...frame,
      regions,
      venues: [{ id: `w${i}`, components }],
      vantages: [],
    };
    const inCommon = own.happens(0.3) ? troublesOf(own, frame, components[0]!, measuring) : null;
    const prevented = own.happens(0.3) ? preventedSlots(own, frame, measuring) : [];
    return filled(world, own, (component) => [
      ...(inCommon ?? troublesOf(own, frame, component, measuring)),
      ...prevented,
    ]);
  });
  return { seed, worlds };
}

/**
 * Makes small fleets, in which regions are impaired. Each has its own regions. A single fleet may have one region,
 * which is then all of the registry.
 */
export function fleets(seed: number, count: number, rules: Rules): Run {
  const { cadencesS, ...frame } = frameOf(seed, new Dice(seed), rules);
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
      components: componentsFor(own, own.weighted([1, 1, 2, 3]), cadencesS),
    }));
    const vantages = vantagesFor(own, frame, regions, `m${i}`);
    const world = { ...frame, regions, venues, vantages };
    const regional = [
      ...regionalTroubles(own, world),
      ...(own.happens(0.4) ? [reachingRegionsInTurn(own, world)] : []),
    ];
    return filled(world, own, (component, venue) => [
      ...(own.happens(0.4) ? troublesOf(own, frame, component, regions).slice(0, 2) : []),
      ...(own.happens(0.15) ? blocked(own, frame, regions) : []),
      ...regional.flatMap((trouble) => trouble(venue)),
    ]);
  });
  return { seed, worlds };
}

/** Its engine does not catch up, so cutting its time would make another pause. */
export function hasPause({ worlds }: Run): boolean {
  const { rules } = worlds[0]!;
  return rules.catch_up_ms === rules.step_ms;
}

/**
 * Picks some of its instants, in some stretches nearly all, in others a few minutes apart; always the last one, and
 * those at which an operator acts.
 */
export function cutAtRandom({ seed, worlds }: Run): number[] {
  const dice = new Dice(seed);
  const { instants } = worlds[0]!;
  const acts = worlds.flatMap(({ retractions }) => retractions);
  let next = 0;
  return instants.filter((at, place) => {
    const due = place === next || place === instants.length - 1;
    if (place === next) next += dice.weighted([1, 1, 2, dice.whole(3, 50)]);
    return due || acts.some((retraction) => retraction.at === at);
  });
}

/**
 * Returns its samples as they become known, those of a batch in random order. A few come twice, then with different
 * content.
 */
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
  return batches.map(({ by, samples }) => ({
    by,
    samples: dice.shuffled(samples),
  }));
}

class Dice {
  readonly #random: () => number;
  constructor(seed: number) {
    this.#random = randomFrom(seed);
  }
  happens(share: number): boolean {
    return this.#random() < share;
  }
  /** Includes both ends. */
  whole(from: number, to: number): number {
    return from + Math.floor(this.#random() * (to - from + 1));
  }
  /** A value that is listed twice is twice as likely. */
  weighted<T>(from: readonly T[]): T {
    return from[this.whole(0, from.length - 1)]!;
  }
  shuffled<T>(from: readonly T[]): T[] {
    return from
      .map((one) => ({ one, place: this.#random() }))
      .sort((a, b) => a.place - b.place)
      .map(({ one }) => one);
  }
  /** Returns at least one, in the given order. */
  some<T>(from: readonly T[]): T[] {
    const wanted = this.whole(1, from.length);
    const left = [...from];
    while (left.length > wanted) left.splice(this.whole(0, left.length - 1), 1);
    return left;
  }
}

type Frame = Pick<World, "rules" | "instants">;

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/**
 * Makes the rules of a run, its instants, and the cadences of its components. Every third run uses the rule book's own
 * numbers. In the others, windows and holds are mostly shorter, so that more happens in the same time. Every fourth has
 * a pause that the engine does not catch up with. In some runs, the typical latency or the day changes in the middle.
 */
function frameOf(seed: number, dice: Dice, usual: Rules): Frame & { cadencesS: number[] } {
  const kind = (["own", "quick", "slow"] as const)[seed % 3]!;
  const [stepMs, count] = {
    own: [5_000, 90] as const,
    quick: dice.weighted([[2_000, 90] as const, [5_000, 60] as const]),
    slow: [10_000, 60] as const,
  }[kind];
  const rules = {
    ...(kind === "own" ? usual : varied(usual, dice)),
    step_ms: stepMs,
  };
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
    outlier_after_ms: dice.weighted([60_000, 60_000, 120_000, 600_000]),
    degraded_min_failed: dice.weighted([1, 2, 2, 3]),
  };
}

function componentsFor(dice: Dice, count: number, cadencesS: number[]): Component[] {
  const alike = dice.happens(0.5);
  const draw = () => ({
    kind: dice.weighted(["rest", "rest", "ws"] as const),
    cadenceMs: dice.weighted(cadencesS) * 1000,
  });
  const first = draw();
  const socket = dice.happens(0.2);
  return ["ticker", "book", "trades"].slice(0, count).map((name, place) => {
    if (socket && place === 0) return { ...first, id: "ws:conn", kind: "ws" };
    const { kind, cadenceMs } = alike ? first : draw();
    return { id: `${kind}:${name}`, kind, cadenceMs };
  });
}

/** Puts all regions or two of them on one machine, all along or for some time, or reports no machines. */
function vantagesFor(dice: Dice, { instants, rules }: Frame, regions: string[], machine: string): Vantage[] {
  const on = (region: string, holdsFrom: number, machine: string | null) => ({
    region,
    holdsFrom,
    machine,
  });
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

/** A fault in some regions for some time. */
interface Trouble {
  from: number;
  to: number;
  regions: string[];
  /** Changes the slot, the `place`-th of the trouble. */
  of: (place: number, slot: Slot, component: Component) => void;
}

interface Slot {
  ts: number;
  measured: boolean;
  bad: boolean;
  /** The venue prevents the slot, if it is bad. */
  prevented: boolean;
  slow: boolean;
  lateMs: number;
}

/** Any number of troubles of any kind, for one component. */
function troublesOf(dice: Dice, frame: Frame, component: Component, measuring: string[]): Trouble[] {
  const troubles = Array.from({ length: dice.whole(1, 6) }, () => {
    const { from, to } = spanWithin(dice, frame, component.cadenceMs);
    const regions = dice.happens(0.5) ? measuring : dice.some(measuring);
    return { from, to, regions, of: kindOfTrouble(dice, to) };
  });
  if (dice.happens(0.2)) troubles.unshift(flapping(dice, frame, measuring));
  if (dice.happens(0.2)) troubles.push(...contradicted(dice, frame, measuring));
  if (dice.happens(0.15)) troubles.unshift(inPart(dice, frame, measuring));
  if (dice.happens(0.1)) troubles.push(...oneIsLeft(dice, frame, measuring));
  if (dice.happens(0.1)) troubles.push(...unwitnessed(dice, frame, measuring));
  if (dice.happens(0.1)) troubles.push(hardlyKnown(dice, frame, measuring));
  if (dice.happens(0.15)) troubles.push(...blocked(dice, frame, measuring));
  return troubles;
}

/** All along, a fifth to two fifths of the answers fail, rarely several in a row. */
function inPart(dice: Dice, { instants }: Frame, regions: string[]): Trouble {
  const share = dice.weighted([0.2, 0.3, 0.4]);
  const every = dice.weighted([3, 4, 5]);
  return {
    from: instants[0]! - 20 * minuteMs,
    to: Infinity,
    regions: dice.happens(0.7) ? regions : dice.some(regions),
    of: dice.weighted<Trouble["of"]>([
      (_, slot) => (slot.bad = dice.happens(share)),
      (place, slot) => (slot.bad = place % every === 0),
    ]),
  };
}

/** One region is blocked permanently, and the others fall silent one after the other. */
function oneIsLeft(dice: Dice, frame: Frame, measuring: string[]): Trouble[] {
  const [blocked, ...others] = dice.shuffled(measuring);
  const { from } = spanWithin(dice, frame, 5_000);
  const lastsMs = dice.whole(10, 60) * frame.rules.step_ms;
  return [
    {
      from: frame.instants[0]! - 20 * minuteMs,
      to: Infinity,
      regions: [blocked!],
      of: (_, slot) => (slot.bad = true),
    },
    ...others.map((region): Trouble => {
      const silentFrom = from + dice.whole(0, 60_000);
      return {
        from: silentFrom,
        to: silentFrom + lastsMs,
        regions: [region],
        of: (_, slot) => (slot.measured = false),
      };
    }),
  ];
}

/** Some regions see it bad, and then never see it well: they stay blocked or silent. */
function unwitnessed(dice: Dice, frame: Frame, measuring: string[]): Trouble[] {
  const { from, to } = spanWithin(dice, frame, 5_000);
  const witnesses = dice.some(measuring);
  const sawItBad: Trouble = {
    from,
    to,
    regions: witnesses,
    of: (_, slot) => (slot.bad = true),
  };
  const others: Trouble = {
    from: from - 60_000,
    to: Infinity,
    regions: measuring.filter((region) => !witnesses.includes(region)),
    // or they measure only afterwards
    of: dice.weighted<Trouble["of"]>([(_, slot) => (slot.bad = false), (_, slot) => (slot.measured = slot.ts >= to)]),
  };
  const never = witnesses.map((region): Trouble => {
    const isBlocked = dice.happens(0.4);
    const of: Trouble["of"] = isBlocked ? (_, slot) => (slot.bad = true) : (_, slot) => (slot.measured = false);
    return { from: to, to: Infinity, regions: [region], of };
  });
  return [sawItBad, others, ...never];
}

/** The venue sends a rate limit, or its socket is down with all of its streams. */
function preventedSlots(dice: Dice, frame: Frame, measuring: string[]): Trouble[] {
  return Array.from({ length: dice.whole(1, 3) }, () => ({
    ...spanWithin(dice, frame, dice.weighted([5_000, 15_000])),
    regions: dice.happens(0.7) ? measuring : dice.some(measuring),
    of: prevented(dice),
  }));
}

function prevented(dice: Dice): Trouble["of"] {
  // now and then the probe asks all the same, and is refused
  const asksEvery = dice.weighted([3, 5, 1_000]);
  return (place, slot, { kind, id }) => {
    slot.bad = true;
    slot.prevented = kind === "rest" ? place % asksEvery > 0 : id !== "ws:conn";
  };
}

/** From some time on, it is measured only at times, so it alternates between well and unknown. */
function hardlyKnown(dice: Dice, frame: Frame, measuring: string[]): Trouble {
  const measuredPart = dice.whole(3, 6);
  const silentPart = dice.whole(3, 16);
  return {
    from: spanWithin(dice, frame, 5_000).from,
    to: Infinity,
    regions: measuring,
    of: (place, slot) => {
      slot.measured = place % (measuredPart + silentPart) < measuredPart;
      slot.bad = false;
    },
  };
}

/** A venue blocks one or two regions for most of the time; now and then it is silent, or answers well for a moment. */
function blocked(dice: Dice, frame: Frame, measuring: string[]): Trouble[] {
  const regions = dice.shuffled(measuring).slice(0, dice.weighted([1, 1, 1, 2]));
  const { instants, rules } = frame;
  const begins = instants[0]! + dice.weighted([-600_000, -600_000, 0, dice.whole(0, 20) * rules.step_ms]);
  const ends = instants.at(-1)! - dice.weighted([-1, dice.whole(0, 25) * rules.step_ms]);
  const isWholly = dice.happens(0.7);
  const block: Trouble = {
    from: begins,
    to: ends,
    regions,
    of: (place, slot) => {
      slot.bad = isWholly || place % 3 < 2;
      slot.measured = true;
    },
  };
  const interruptions = Array.from({ length: dice.whole(0, 2) }, () => ({
    ...spanWithin(dice, frame, dice.weighted([5_000, 15_000])),
    regions: [dice.weighted(regions)],
    of: dice.weighted<Trouble["of"]>([
      (_, slot) => (slot.measured = false),
      (_, slot) => (slot.bad = false),
      (_, slot) => (slot.lateMs = 40_000),
    ]),
  }));
  return [block, ...interruptions];
}

/** Some regions see it bad, while the good samples of the others wait in a spool. */
function contradicted(dice: Dice, frame: Frame, measuring: string[]): Trouble[] {
  const { from, to } = spanWithin(dice, frame, 5_000);
  const bad = dice.some(measuring);
  const others = measuring.filter((region) => !bad.includes(region));
  const emptied = to + dice.weighted([0, 30_000, 90_000]);
  return [
    { from, to, regions: bad, of: (_, slot) => (slot.bad = true) },
    {
      from: from - 90_000,
      to: emptied,
      regions: others,
      of: (_, slot) => (slot.lateMs = emptied - slot.ts),
    },
  ];
}

/** Begins often exactly on an instant, so that values lie exactly on limits. */
function spanWithin(dice: Dice, { instants, rules }: Frame, cadenceMs: number) {
  const aligned = dice.happens(0.5);
  const place = dice.whole(-10, instants.length - 1);
  const from = instants[0]! + place * rules.step_ms + (aligned ? 0 : dice.whole(0, 9_999));
  const lasts = dice.weighted([
    dice.whole(1, 4) * cadenceMs,
    dice.whole(3, 16) * cadenceMs,
    dice.whole(3, 16) * cadenceMs,
    dice.whole(10, 40) * rules.step_ms,
  ]);
  return { from, to: from + lasts };
}

/** All along. */
function flapping(dice: Dice, { instants }: Frame, regions: string[]): Trouble {
  const badPart = dice.whole(2, 6);
  const goodPart = dice.whole(6, 25);
  return {
    from: instants[0]!,
    to: instants.at(-1)!,
    regions: dice.happens(0.7) ? regions : dice.some(regions),
    of: (place, slot) => (slot.bad = place % (badPart + goodPart) < badPart),
  };
}

function kindOfTrouble(dice: Dice, ends: number): Trouble["of"] {
  const share = dice.weighted([0.1, 0.3, 0.5, 0.8]);
  const cycle = dice.weighted([2, 2, 3, 4, 5, 5, 5, 6]);
  const badPart = dice.whole(3, 8);
  const goodPart = dice.whole(1, 15);
  const lateMs = dice.weighted([1_000, 4_999, 20_000, 61_000, 200_000]);
  const kinds: Trouble["of"][] = [
    (_, slot) => (slot.bad = true),
    (_, slot) => (slot.bad = true),
    (_, slot) => (slot.bad = false),
    // shares of exactly a half, a fifth…
    (place, slot) => (slot.bad = place % cycle === 0),
    (_, slot) => (slot.bad = dice.happens(share)),
    (place, slot) => (slot.bad = place % (badPart + goodPart) < badPart),
    (_, slot) => (slot.slow = true),
    (place, slot) => (slot.slow = place % 2 === 0),
    prevented(dice),
    (_, slot) => (slot.measured = false),
    (_, slot) => (slot.measured = dice.happens(1 - share)),
    (_, slot) => (slot.lateMs = lateMs),
    (_, slot) => (slot.lateMs = dice.whole(0, lateMs)),
    // a spool that is delivered at the end
    (_, slot) => (slot.lateMs = Math.max(0, ends - slot.ts)),
  ];
  return dice.weighted(kinds);
}

/**
 * The network of one region or one machine fails for most venues: they turn bad there one after the other, or some of
 * their endpoints do.
 */
function regionalTroubles(dice: Dice, world: Unfilled): ((venue: string) => Trouble[])[] {
  return Array.from({ length: dice.whole(1, 3) }, () => {
    const regions = dice.weighted([
      () => [dice.weighted(world.regions)],
      () => regionsOfAMachine(dice, world),
      () => regionsOfAMachine(dice, world),
      () => dice.some(world.regions),
    ])();
    const { from } = spanWithin(dice, world, 5_000);
    const lasts = dice.weighted([60_000, 120_000, 240_000]);
    const spreadMs = dice.weighted([0, 0, 20_000, 60_000, 150_000]);
    const share = dice.weighted([0.6, 0.8, 1, 1]);
    const what = dice.weighted<Trouble["of"]>([
      (_, slot) => (slot.bad = true),
      (_, slot) => (slot.bad = true),
      (_, slot) => (slot.bad = true),
      (place, slot) => (slot.bad = place % 3 === 0),
      (_, slot) => (slot.slow = true),
      (_, slot) => (slot.measured = false),
      (_, slot) => (slot.lateMs = 90_000),
    ]);
    const begins = new Map(
      world.venues.filter(() => dice.happens(share)).map(({ id }) => [id, from + dice.whole(0, spreadMs)]),
    );
    const reached = dice.weighted([0.4, 0.7, 1, 1, 1]);
    return (venue: string) => {
      const begun = begins.get(venue);
      if (begun === undefined || !dice.happens(reached)) return [];
      return [{ from: begun, to: begun + lasts, regions, of: what }];
    };
  });
}

/**
 * A host that most venues share fails, first for one region, then for others: it looks like the network of the first.
 */
function reachingRegionsInTurn(dice: Dice, world: Unfilled): (venue: string) => Trouble[] {
  const { from } = spanWithin(dice, world, 5_000);
  const apartMs = dice.weighted([10_000, 30_000, 60_000]);
  const lastsMs = dice.weighted([60_000, 120_000, 240_000]);
  const regions = dice.shuffled(world.regions);
  const hosted = world.venues.filter(() => dice.happens(0.8)).map(({ id }) => id);
  const reached = dice.weighted([0.7, 1]);
  return (venue) =>
    regions.flatMap((region, place) =>
      !hosted.includes(venue) || !dice.happens(reached)
        ? []
        : {
            from: from + place * apartMs,
            to: from + lastsMs,
            regions: [region],
            of: (_, slot) => (slot.bad = true),
          },
    );
}

/** Returns the regions that some report places on one machine; one region, where no report does. */
function regionsOfAMachine(dice: Dice, world: Unfilled): string[] {
  const { machine } = dice.weighted([...world.vantages, { machine: null }]);
  const regions = world.regions.filter((region) =>
    world.vantages.some((one) => one.region === region && one.machine === machine),
  );
  return machine === null || regions.length === 0 ? [dice.weighted(world.regions)] : regions;
}

type Unfilled = Frame & Pick<World, "regions" | "venues" | "vantages">;

/** Fills the world with samples: good ones, changed by the troubles. */
function filled(world: Unfilled, dice: Dice, troublesFor: (component: Component, venue: string) => Trouble[]): World {
  const samples: Sample[] = [];
  const typical: Typical[] = [];
  const retractions: Retraction[] = [];
  for (const venue of world.venues) {
    const aligned = dice.happens(0.5);
    for (const component of venue.components) {
      const troubles = troublesFor(component, venue.id);
      const measuring = new Set(troubles.flatMap(({ regions }) => regions));
      const extra = dice.some(world.regions);
      const phaseMs = aligned ? 0 : dice.whole(0, component.cadenceMs - 1);
      while (dice.happens(0.1))
        retractions.push({
          venue: venue.id,
          component: component.id,
          at: dice.weighted(world.instants),
        });
      const noise = dice.weighted([0, 0, 0, 0.02, 0.1]);
      for (const region of world.regions) {
        if (!measuring.has(region) && !extra.includes(region)) continue;
        const usuallyLateMs = dice.weighted([0, 0, 300, 1_700]);
        const of = { venue: venue.id, component: component.id, region };
        const usual = component.kind === "rest" ? typicalOf(dice, world, of) : [];
        typical.push(...usual);
        samples.push(
          ...slotsOf(dice, world, component, phaseMs)
            .map((ts) => slotAt(dice, ts, noise, usuallyLateMs))
            .map((slot) => troubled(slot, troubles, region, component))
            .filter(({ measured }) => measured)
            .map((slot) => ({
              ...of,
              ...sampleOf(dice, slot, component, usual, world.rules),
            })),
        );
      }
    }
  }
  return { ...world, samples, typical, retractions };
}

function typicalOf(dice: Dice, { instants }: Frame, of: Pick<Typical, "venue" | "component" | "region">): Typical[] {
  const sixHoursMs = 6 * 60 * minuteMs;
  const boundary = Math.floor(instants[0]! / sixHoursMs) * sixHoursMs;
  return [boundary - sixHoursMs, boundary, boundary + sixHoursMs]
    .filter(() => dice.happens(0.8))
    .map((boundary) => ({
      ...of,
      boundary,
      latencyUs: dice.weighted([40_000, 100_001, 250_007, 400_000]),
    }));
}

/**
 * Slots from a while before the first instant. Rarely there are also some from a week ago, which is as far back as a
 * run is traced.
 */
function slotsOf(dice: Dice, { instants }: Frame, { cadenceMs }: Component, phaseMs: number): number[] {
  const slots: number[] = [];
  const begin = instants[0]! - dice.whole(0, 20) * cadenceMs;
  for (let ts = begin + phaseMs; ts <= instants.at(-1)!; ts += cadenceMs) slots.push(ts);
  if (!dice.happens(0.02)) return slots;
  return [...slots.map((ts) => ts - 7 * dayMs), ...slots];
}

function slotAt(dice: Dice, ts: number, noise: number, lateMs: number): Slot {
  return {
    ts,
    measured: true,
    bad: dice.happens(noise),
    prevented: false,
    slow: false,
    lateMs,
  };
}

function troubled(slot: Slot, troubles: Trouble[], region: string, component: Component): Slot {
  for (const { from, to, regions, of } of troubles)
    if (regions.includes(region) && slot.ts >= from && slot.ts < to)
      of(Math.floor((slot.ts - from) / component.cadenceMs), slot, component);
  return slot;
}

function sampleOf(
  dice: Dice,
  { ts, bad, prevented, slow, lateMs }: Slot,
  { kind }: Component,
  typical: Typical[],
  rules: Rules,
): Omit<Sample, "venue" | "component" | "region"> {
  const receivedAfterS = Math.ceil(lateMs / 1000);
  if (bad && prevented) {
    const fault = kind === "rest" ? "limited" : "closed";
    return { ts, fault, unserved: true, latencyUs: null, receivedAfterS };
  }
  const fault = bad ? dice.weighted(["timeout", "http", "stall"]) : null;
  // the typical latency may belong to another boundary, and then there is none
  const limitsUs = [
    rules.slow_untypical_ms * 1000,
    ...typical.flatMap(({ latencyUs }) => {
      const limitUs = Math.max(rules.slow_multiple * latencyUs, latencyUs + rules.slow_floor_ms * 1000);
      return [limitUs, limitUs, limitUs];
    }),
  ];
  const limitUs = dice.weighted(limitsUs);
  const tookUs = slow
    ? dice.weighted([Math.ceil(limitUs), Math.ceil(limitUs), Math.ceil(limitUs) - 1, Math.ceil(limitUs) + 1, 4_000_000])
    : 80_000;
  // the latency of a failed sample or of a socket means nothing
  const telling = kind === "rest" && !bad;
  const latencyUs = telling || dice.happens(0.05) ? tookUs : null;
  return { ts, fault, unserved: false, latencyUs, receivedAfterS };
}
