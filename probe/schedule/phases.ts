import { createHash } from "node:crypto";
import { greatestCommonDivisor } from "../../shared/registry/cadence.js";
import { addressIn } from "../../shared/registry/region-hosts.js";
import type { Registry } from "../../shared/registry/registry.js";

/** The input from which a component's slots are computed. */
interface Slots {
  venue: string;
  component: string;
  cadenceMs: number;
}

/** @returns milliseconds, less than the cadence: slot k is at k × cadence + phase */
export type PhaseOf = (slots: Slots) => number;

/** Slots of two cadences with a smaller common divisor pass each other, whatever their phases. */
const smallestDivisorMs = 1000;

/** One endpoint in one region. */
interface Series {
  key: string;
  origin: string;
  cadenceMs: number;
}

/**
 * The phases of a region's slots. They are the same in every process that has the same registry and as many probes for
 * an address.
 *
 * All endpoints of an origin take turns across all regions, because probes may share an address, and a venue may limit
 * the requests per second. An alternative is asked right after the first address. Other components are spread by a
 * hash.
 */
export function makePhases({ venues, regions }: Registry, region: string): PhaseOf {
  const all = venues.flatMap(({ id, rest }) =>
    rest.flatMap(({ name, url, cadenceMs }) =>
      regions.map((one) => ({
        key: keyOf(one.id, { venue: id, component: `rest:${name}` }),
        origin: new URL(addressIn(one, url)).origin,
        cadenceMs,
      })),
    ),
  );
  const byOrigin = new Map<string, Series[]>();
  for (const one of all) byOrigin.set(one.origin, [...(byOrigin.get(one.origin) ?? []), one]);
  const spread = new Map([...byOrigin.values()].flatMap(spreadOut));
  return (slots) => {
    const key = keyOf(region, slots);
    return spread.get(key) ?? hashOf(key) % slots.cadenceMs;
  };
}

function keyOf(region: string, { venue, component }: Pick<Slots, "venue" | "component">): string {
  return `${region} ${venue} ${component}`;
}

function hashOf(key: string): number {
  return createHash("sha256").update(key).digest().readUInt32BE(0);
}

/** Phases with as much time between any two slots as the first fit finds. */
function spreadOut(ofOrigin: readonly Series[]): [key: string, phaseMs: number][] {
  const shortestFirst = ofOrigin.toSorted((a, b) => a.cadenceMs - b.cadenceMs);
  // otherwise all origins would be asked at the same instants
  const shiftMs = hashOf(ofOrigin[0]!.key);
  const meanMs = 1 / ofOrigin.reduce((perMs, { cadenceMs }) => perMs + 1 / cadenceMs, 0);
  for (let apartMs = meanMs; ; apartMs *= 0.95) {
    const phases = firstFit(shortestFirst, Math.floor(apartMs));
    if (phases) return shortestFirst.map(({ key, cadenceMs }, place) => [key, (phases[place]! + shiftMs) % cadenceMs]);
  }
}

/** The earliest phases that keep slots this far apart; null: there are none. */
function firstFit(ofOrigin: readonly Series[], apartMs: number): number[] | null {
  const phases: number[] = [];
  for (const { cadenceMs } of ofOrigin) {
    let phaseMs = 0;
    let shiftMs: number;
    do {
      const shifts = phases.map((other, place) =>
        neededShiftMs(phaseMs - other, cadenceMs, ofOrigin[place]!.cadenceMs, apartMs),
      );
      shiftMs = Math.max(...shifts, 0);
      phaseMs += shiftMs;
    } while (shiftMs > 0 && phaseMs < cadenceMs);
    if (shiftMs > 0) return null;
    phases.push(phaseMs);
  }
  return phases;
}

/** How much later slots would have to be, so that none is near one of another cadence. */
function neededShiftMs(laterMs: number, cadenceMs: number, otherCadenceMs: number, apartMs: number): number {
  const divisorMs = greatestCommonDivisor(cadenceMs, otherCadenceMs);
  if (divisorMs < smallestDivisorMs && cadenceMs !== otherCadenceMs) return 0;
  const sinceMs = ((laterMs % divisorMs) + divisorMs) % divisorMs;
  if (sinceMs < apartMs) return apartMs - sinceMs;
  return sinceMs > divisorMs - apartMs ? divisorMs - sinceMs + apartMs : 0;
}
