/** What goes wrong in some regions for most venues at once. */
import { Dice } from "./dice.js";
import type { Unfilled } from "./frame.js";
import { spanWithin, type WorldTrouble } from "./troubles.js";

/** The network of a region or machine fails: most venues, or some of their endpoints, turn bad one after the other. */
export function regionalTroubles(dice: Dice, world: Unfilled): ((venue: string) => WorldTrouble[])[] {
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
    const what = dice.weighted<WorldTrouble["of"]>([
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
export function reachingRegionsInTurn(dice: Dice, world: Unfilled): (venue: string) => WorldTrouble[] {
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
        : { from: from + place * apartMs, to: from + lastsMs, regions: [region], of: (_, slot) => (slot.bad = true) },
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
