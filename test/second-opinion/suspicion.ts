/** Chapter 6 of the rule book: trouble that may be the network of the one machine that all who see it run on. */
import { type DatedView, isFreshlyBad } from "./impairment.js";
import { vantagesAt } from "./vantage.js";
import type { World } from "./world.js";

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

  const known = views.filter(
    ({ region, state }) => vantage.includes(region) && state !== "unknown",
  );
  const measured = new Set(known.map(({ venue }) => venue));
  const turning = [...measured].filter((venue) => {
    const ofVenue = known.filter((view) => view.venue === venue);
    const components = new Set(ofVenue.map(({ component }) => component));
    return [...components].some((component) =>
      ofVenue
        .filter((view) => view.component === component)
        .every(
          (view) =>
            isFreshlyBad(view, world, at) ||
            (view.state === "operational" &&
              view.badRun >= world.rules.opening_bad_run - 1),
        ),
    );
  });
  return (
    measured.size >= world.rules.impaired_min_venues &&
    turning.length / measured.size > world.rules.impaired_venue_share
  );
}
