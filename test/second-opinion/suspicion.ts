/** Chapter 6 of the rule book: trouble that may be the network of the one machine that all who see it run on. */
import type { DatedView } from "./impairment.js";
import { vantagesAt } from "./vantage.js";
import { isBad, type World } from "./world.js";

/**
 * @param views of all regions on all components
 * @param counted the regions that are counted for the component
 */
export function isSuspect(
  counted: string[],
  views: DatedView[],
  world: World,
  at: number,
): boolean {
  const vantage = vantagesAt(world, at).find((regions) =>
    counted.every((region) => regions.includes(region)),
  );
  if (counted.length === 0 || !vantage || vantage.length < 2) return false;

  const { rules } = world;
  const fresh = views.filter(
    ({ region, state, badSince }) =>
      vantage.includes(region) &&
      state !== "unknown" &&
      (badSince === null || badSince > at - rules.impaired_within_ms),
  );
  const runs = fresh.flatMap(({ state, badRun, runFrom }) =>
    isBad(state) && badRun >= rules.opening_bad_run && runFrom !== null
      ? [runFrom]
      : [],
  );
  if (runs.length === 0) return false;
  const troubleAt = Math.max(...runs);

  const askedSince = fresh.filter(
    ({ newestAt }) => newestAt !== null && newestAt >= troubleAt,
  );
  const measured = new Set(askedSince.map(({ venue }) => venue));
  const turning = [...measured].filter((venue) => {
    const ofVenue = askedSince.filter((view) => view.venue === venue);
    const components = new Set(ofVenue.map(({ component }) => component));
    return [...components].some((component) =>
      ofVenue
        .filter((view) => view.component === component)
        .every(({ state, badRun }) => isBad(state) || badRun >= 1),
    );
  });
  return (
    measured.size >= rules.impaired_min_venues &&
    turning.length / measured.size > rules.impaired_venue_share
  );
}
