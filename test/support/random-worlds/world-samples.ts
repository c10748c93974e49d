/** Fills a world with the samples of its slots: good ones, changed by the troubles. */
import type { Component, Retraction, Rules, Sample, Typical, World } from "../../second-opinion/world.js";
import { Dice } from "./dice.js";
import { dayMs, type Frame, minuteMs, type Unfilled } from "./frame.js";
import { jitter, randomSlots } from "../jitter.js";
import type { WorldSlot, WorldTrouble } from "./troubles.js";

export function withSamples(
  world: Unfilled,
  dice: Dice,
  troublesFor: (component: Component, venue: string) => WorldTrouble[],
): World {
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
        retractions.push({ venue: venue.id, component: component.id, at: dice.weighted(world.actsAt) });
      const noise = dice.weighted([0, 0, 0, 0.02, 0.1]);
      const isJittery = component.kind === "rest" && dice.happens(0.2);
      for (const region of world.regions) {
        if (!measuring.has(region) && !extra.includes(region)) continue;
        const usuallyLateMs = dice.weighted([0, 0, 300, 1_700]);
        const of = { venue: venue.id, component: component.id, region };
        const usual = component.kind === "rest" ? typicalOf(dice, world, of) : [];
        typical.push(...usual);
        const slots = slotsOf(dice, world, component, phaseMs);
        samples.push(
          ...(isJittery ? jitterySlots(dice, slots) : slots.map((ts) => slotAt(dice, ts, noise, usuallyLateMs)))
            .map((slot) => troubled(slot, [...troubles, ...silencesOf(world)], region, component))
            .filter(({ measured }) => measured)
            .map((slot) => ({ ...of, ...sampleOf(dice, slot, component, usual, world.rules) })),
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
    .map((boundary) => ({ ...of, boundary, latencyUs: dice.weighted([40_000, 100_001, 250_007, 400_000]) }));
}

/** Slots from a while before the first instant; rarely also from a week ago, as far back as a run is traced. */
function slotsOf(dice: Dice, { instants }: Frame, { cadenceMs }: Component, phaseMs: number): number[] {
  const slots: number[] = [];
  const begin = instants[0]! - dice.whole(0, 20) * cadenceMs;
  for (let ts = begin + phaseMs; ts <= instants.at(-1)!; ts += cadenceMs) slots.push(ts);
  if (!dice.happens(0.02)) return slots;
  return [...slots.map((ts) => ts - 7 * dayMs), ...slots];
}

function slotAt(dice: Dice, ts: number, noise: number, lateMs: number): WorldSlot {
  const bad = dice.happens(noise);
  return { ts, measured: true, bad, fault: null, prevented: false, slow: false, latencyUs: 80_000, lateMs };
}

/** Slots whose answers take a random time and sometimes fail by chance, and are known when they have come. */
function jitterySlots(dice: Dice, slots: number[]): WorldSlot[] {
  const trouble = { ...jitter, errorShare: dice.weighted([jitter.errorShare, 0.1, 0.2, 0.3]) };
  const { failed, latencyMs } = randomSlots(() => dice.share(), slots.length, trouble);
  return slots.map((ts, nth) => {
    const tookMs = latencyMs[nth]!;
    return { ...slotAt(dice, ts, 0, tookMs + 1), bad: failed[nth] === 1, latencyUs: tookMs * 1000 };
  });
}

function silencesOf({ silences, regions }: Unfilled): WorldTrouble[] {
  return silences.map((span) => ({ ...span, regions, of: (_, slot) => (slot.measured = false) }));
}

function troubled(slot: WorldSlot, troubles: WorldTrouble[], region: string, component: Component): WorldSlot {
  for (const { from, to, regions, of } of troubles)
    if (regions.includes(region) && slot.ts >= from && slot.ts < to)
      of(Math.floor((slot.ts - from) / component.cadenceMs), slot, component);
  return slot;
}

function sampleOf(
  dice: Dice,
  { ts, bad, fault: given, prevented, slow, latencyUs: usualUs, lateMs }: WorldSlot,
  { kind }: Component,
  typical: Typical[],
  rules: Rules,
): Omit<Sample, "venue" | "component" | "region"> {
  const receivedAfterS = Math.ceil(lateMs / 1000);
  if (bad && prevented) {
    const fault = kind === "rest" ? "limited" : "closed";
    return { ts, fault, unserved: true, latencyUs: null, receivedAfterS };
  }
  const fault = bad ? (given ?? dice.weighted(["timeout", "http", "stall"])) : null;
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
    : usualUs;
  // the latency of a failed sample or of a socket means nothing
  const telling = kind === "rest" && !bad;
  const latencyUs = telling || dice.happens(0.05) ? tookUs : null;
  return { ts, fault, unserved: false, latencyUs, receivedAfterS };
}
