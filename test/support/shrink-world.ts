/** Removes from a world what its failure does not need, so that it can be read. */
import type { Sample, World } from "../second-opinion/world.js";

/**
 * @param fails whether a smaller world still fails
 * @param withinMs the time after which no smaller world is tried
 */
export async function shrink(
  world: World,
  fails: (smaller: World) => Promise<boolean>,
  withinMs: number,
): Promise<World> {
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
