/** Chapter 6 of the rule book: trouble that may be the network of the one machine that all who see it run on. */
import type { DatedView } from "./impairment.js";
import { vantagesAt } from "./vantage.js";
import { isBad, type World } from "./world.js";

/**
 * @param confirming the counted regions that confirm trouble at the venue
 * @param views of all regions on all components
 */
export function isSuspect(
  { venue, confirming }: { venue: string; confirming: string[] },
  quorum: number,
  views: DatedView[],
  world: World,
  at: number,
): boolean {
  if (confirming.length < quorum || world.regions.length < 2) return false;
  const suspects = vantagesAt(world, at)
    .filter((vantage) =>
      failingByItsNetwork(vantage, views, world, at).includes(venue),
    )
    .flat();
  const left = confirming.filter((region) => !suspects.includes(region));
  return left.length < quorum;
}

/** The venues that the vantage sees fail alone, where they are so many that it may be its own network. */
function failingByItsNetwork(
  vantage: string[],
  views: DatedView[],
  world: World,
  at: number,
): string[] {
  const { rules } = world;
  const known = views.filter(({ state }) => state !== "unknown");
  const isLongBad = ({ badSince }: DatedView) =>
    badSince !== null && badSince <= at - rules.impaired_within_ms;
  const fresh = known.filter(
    (view) => vantage.includes(view.region) && !isLongBad(view),
  );
  const isWitness = ({ region, venue }: DatedView) =>
    !vantage.includes(region) &&
    !known.some(
      (view) =>
        view.region === region && view.venue === venue && isLongBad(view),
    );
  const elsewhere = known
    .filter(isWitness)
    .filter(({ state, badRun }) => isBad(state) || badRun >= 2)
    .map(({ venue }) => venue);
  const runs = fresh.flatMap(({ state, badRun, runFrom }) =>
    isBad(state) && badRun >= rules.opening_bad_run && runFrom !== null
      ? [runFrom]
      : [],
  );
  if (runs.length === 0) return [];
  const troubleAt = Math.max(...runs);

  const askedSince = fresh.filter(
    ({ newestAt }) => newestAt !== null && newestAt >= troubleAt,
  );
  const measured = new Set(askedSince.map(({ venue }) => venue));
  const turning = [...measured].filter((venue) => {
    if (elsewhere.includes(venue)) return false;
    const ofVenue = askedSince.filter((view) => view.venue === venue);
    const components = new Set(ofVenue.map(({ component }) => component));
    return [...components].some((component) =>
      ofVenue.filter((view) => view.component === component).every(isTouched),
    );
  });
  const looksSo =
    measured.size >= rules.impaired_min_venues &&
    turning.length / measured.size > rules.impaired_venue_share;
  return looksSo ? turning : [];
}

function isTouched({ state, badRun }: DatedView): boolean {
  return isBad(state) || badRun >= 1;
}
