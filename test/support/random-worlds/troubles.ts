/** What goes wrong with one component: at the venue, and on the way to it. */
import type { Component } from "../../second-opinion/world.js";
import { Dice } from "./dice.js";
import { type Frame, minuteMs, type Span } from "./frame.js";

/** A fault in some regions for some time. */
export interface WorldTrouble extends Span {
  regions: string[];
  /** Changes the slot, the `place`-th of the trouble. */
  of: (place: number, slot: WorldSlot, component: Component) => void;
}

export interface WorldSlot {
  ts: number;
  measured: boolean;
  bad: boolean;
  /** The fault, if it is bad; null: any. */
  fault: "blocked" | "limited" | null;
  /** The venue prevents the slot, if it is bad. */
  prevented: boolean;
  slow: boolean;
  /** Of a good answer that is not slow. */
  latencyUs: number;
  lateMs: number;
}

/** Any number of troubles of any kind, for one component. */
export function troublesOf(dice: Dice, frame: Frame, component: Component, measuring: string[]): WorldTrouble[] {
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
  if (frame.silences.length > 0) {
    troubles.push(heldBack(dice, frame, measuring));
    if (dice.happens(0.4)) troubles.push(...contradicted(dice, frame, measuring));
  }
  return troubles;
}

/** All along, a fifth to two fifths of the answers fail, rarely several in a row. */
function inPart(dice: Dice, { instants }: Frame, regions: string[]): WorldTrouble {
  const share = dice.weighted([0.2, 0.3, 0.4]);
  const every = dice.weighted([3, 4, 5]);
  return {
    from: instants[0]! - 20 * minuteMs,
    to: Infinity,
    regions: dice.happens(0.7) ? regions : dice.some(regions),
    of: dice.weighted<WorldTrouble["of"]>([
      (_, slot) => (slot.bad = dice.happens(share)),
      (place, slot) => (slot.bad = place % every === 0),
    ]),
  };
}

/** One region is blocked permanently, and the others fall silent one after the other. */
function oneIsLeft(dice: Dice, frame: Frame, measuring: string[]): WorldTrouble[] {
  const [blocked, ...others] = dice.shuffled(measuring);
  const { from } = spanWithin(dice, frame, 5_000);
  const lastsMs = dice.whole(10, 60) * frame.rules.step_ms;
  return [
    { from: frame.instants[0]! - 20 * minuteMs, to: Infinity, regions: [blocked!], of: (_, slot) => (slot.bad = true) },
    ...others.map((region): WorldTrouble => {
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
function unwitnessed(dice: Dice, frame: Frame, measuring: string[]): WorldTrouble[] {
  const { from, to } = spanWithin(dice, frame, 5_000);
  const witnesses = dice.some(measuring);
  const sawItBad: WorldTrouble = { from, to, regions: witnesses, of: (_, slot) => (slot.bad = true) };
  const others: WorldTrouble = {
    from: from - 60_000,
    to: Infinity,
    regions: measuring.filter((region) => !witnesses.includes(region)),
    // or they measure only afterwards
    of: dice.weighted<WorldTrouble["of"]>([
      (_, slot) => (slot.bad = false),
      (_, slot) => (slot.measured = slot.ts >= to),
    ]),
  };
  const never = witnesses.map((region): WorldTrouble => {
    const isBlocked = dice.happens(0.4);
    const of: WorldTrouble["of"] = isBlocked ? (_, slot) => (slot.bad = true) : (_, slot) => (slot.measured = false);
    return { from: to, to: Infinity, regions: [region], of };
  });
  return [sawItBad, others, ...never];
}

/** The venue sends a rate limit, or its socket is down with all of its streams. */
export function preventedSlots(dice: Dice, frame: Frame, measuring: string[]): WorldTrouble[] {
  return Array.from({ length: dice.whole(1, 3) }, () => ({
    ...spanWithin(dice, frame, dice.weighted([5_000, 15_000])),
    regions: dice.happens(0.7) ? measuring : dice.some(measuring),
    of: prevented(dice),
  }));
}

function prevented(dice: Dice): WorldTrouble["of"] {
  // now and then the probe asks all the same, and is refused
  const asksEvery = dice.weighted([3, 5, 1_000]);
  return (place, slot, { kind, id }) => {
    slot.bad = true;
    slot.prevented = kind === "rest" ? place % asksEvery > 0 : id !== "ws:conn";
  };
}

/** From some time on, it is measured only at times, so it alternates between well and unknown. */
function hardlyKnown(dice: Dice, frame: Frame, measuring: string[]): WorldTrouble {
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
export function blocked(dice: Dice, frame: Frame, measuring: string[]): WorldTrouble[] {
  const regions = dice.shuffled(measuring).slice(0, dice.weighted([1, 1, 1, 2]));
  const { instants, rules } = frame;
  const begins = instants[0]! + dice.weighted([-600_000, -600_000, 0, dice.whole(0, 20) * rules.step_ms]);
  const ends = instants.at(-1)! - dice.weighted([-1, dice.whole(0, 25) * rules.step_ms]);
  const isWholly = dice.happens(0.7);
  // or it drops packets
  const fault = dice.weighted(["blocked" as const, null]);
  const block: WorldTrouble = {
    from: begins,
    to: ends,
    regions,
    of: (place, slot) => {
      slot.bad = isWholly || place % 3 < 2;
      slot.fault = fault;
      slot.measured = true;
    },
  };
  const interruptions = Array.from({ length: dice.whole(0, 2) }, () => ({
    ...spanWithin(dice, frame, dice.weighted([5_000, 15_000])),
    regions: [dice.weighted(regions)],
    of: dice.weighted<WorldTrouble["of"]>([
      (_, slot) => (slot.measured = false),
      (_, slot) => (slot.bad = false),
      (_, slot) => (slot.lateMs = 40_000),
    ]),
  }));
  return [block, ...interruptions];
}

/** Some regions see it bad, while the good samples of the others wait in a spool. */
function contradicted(dice: Dice, frame: Frame, measuring: string[]): WorldTrouble[] {
  const { from, to } = spanWithin(dice, frame, 5_000);
  const bad = dice.some(measuring);
  const others = measuring.filter((region) => !bad.includes(region));
  const emptied = to + dice.weighted([0, 30_000, 90_000]);
  return [
    { from, to, regions: bad, of: (_, slot) => (slot.bad = true) },
    { from: from - 90_000, to: emptied, regions: others, of: (_, slot) => (slot.lateMs = emptied - slot.ts) },
  ];
}

/** Samples of some regions reach the database long after their spool was filled. */
function heldBack(dice: Dice, frame: Frame, measuring: string[]): WorldTrouble {
  const { from, to } = spanWithin(dice, frame, 30_000);
  const delivered = to + dice.weighted([0, 10, 20]) * minuteMs;
  return { from, to, regions: dice.some(measuring), of: (_, slot) => (slot.lateMs = delivered - slot.ts) };
}

/**
 * Begins often exactly on an instant, so that values lie exactly on limits; and often near the edge of a silence, where
 * it matters.
 */
export function spanWithin(dice: Dice, { instants, rules, silences }: Frame, cadenceMs: number): Span {
  const aligned = dice.happens(0.5);
  const place = dice.whole(-10, instants.length - 1);
  let begins = instants[0]! + place * rules.step_ms;
  if (silences.length > 0 && dice.happens(0.6)) {
    const edge = dice.weighted(silences.flatMap(({ from, to }) => [from, to])) + dice.whole(-12, 8) * minuteMs;
    begins = Math.floor(edge / rules.step_ms) * rules.step_ms;
  }
  const from = begins + (aligned ? 0 : dice.whole(0, 9_999));
  const lasts = dice.weighted([
    dice.whole(1, 4) * cadenceMs,
    dice.whole(3, 16) * cadenceMs,
    dice.whole(3, 16) * cadenceMs,
    dice.whole(10, 40) * rules.step_ms,
  ]);
  return { from, to: from + lasts };
}

/** All along. */
function flapping(dice: Dice, { instants }: Frame, regions: string[]): WorldTrouble {
  const badPart = dice.whole(2, 6);
  const goodPart = dice.whole(6, 25);
  return {
    from: instants[0]!,
    to: instants.at(-1)!,
    regions: dice.happens(0.7) ? regions : dice.some(regions),
    of: (place, slot) => (slot.bad = place % (badPart + goodPart) < badPart),
  };
}

function kindOfTrouble(dice: Dice, ends: number): WorldTrouble["of"] {
  const share = dice.weighted([0.1, 0.3, 0.5, 0.8]);
  const cycle = dice.weighted([2, 2, 3, 4, 5, 5, 5, 6]);
  const badPart = dice.whole(3, 8);
  const goodPart = dice.whole(1, 15);
  const lateMs = dice.weighted([1_000, 4_999, 20_000, 61_000, 200_000]);
  const kinds: WorldTrouble["of"][] = [
    (_, slot) => (slot.bad = true),
    (_, slot) => (slot.bad = true),
    (_, slot) => (slot.bad = false),
    // shares of exactly a half, a fifth…
    (place, slot) => (slot.bad = place % cycle === 0),
    (_, slot) => (slot.bad = dice.happens(share)),
    (place, slot) => (slot.bad = place % (badPart + goodPart) < badPart),
    (_, slot) => ((slot.bad = true), (slot.fault = "blocked")),
    (place, slot) => ((slot.bad = true), (slot.fault = place % 2 === 0 ? "blocked" : null)),
    (_, slot) => ((slot.bad = true), (slot.fault = "limited")),
    (place, slot) => ((slot.bad = true), (slot.fault = place % cycle === 0 ? null : "limited")),
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
