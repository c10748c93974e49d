/** Chapter 4 of the rule book: regions that share one vantage. */
import type { World } from "./world.js";

/**
 * The published regions of each vantage at this instant, in the order of the registry. A region whose machine is
 * unknown is a vantage of its own.
 */
export function vantagesAt(world: World, at: number): string[][] {
  const vantages = new Map<string, string[]>();
  const alone: string[][] = [];
  for (const region of world.regions) {
    const machine = machineOf(world, region, at);
    if (machine === null) alone.push([region]);
    else vantages.set(machine, [...(vantages.get(machine) ?? []), region]);
  }
  return [...alone, ...vantages.values()];
}

function machineOf(world: World, region: string, at: number): string | null {
  const reports = world.vantages
    .filter((one) => one.region === region && one.holdsFrom <= at)
    .toSorted((a, b) => a.holdsFrom - b.holdsFrom);
  return reports.at(-1)?.machine ?? null;
}
