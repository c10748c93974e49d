/** Chapter 6 of the rule book: trouble that may be the network of the one machine that all who see it run on. */
import type { DatedView } from "./impairment.js";
import { vantagesAt } from "./vantage.js";
import { isBad, type World } from "./world.js";

/**
 * @param confirming the counted regions that confirm trouble
 * @param views of all regions on all components
 */
export function isSuspect(
  confirming: string[],
  quorum: number,
  views: DatedView[],
  world: World,
  at: number,
): boolean {
  if (confirming.length < quorum || world.regions.length < 2) return false;
  const suspects = vantagesAt(world, at)
    .filter((vantage) => isNetworkSuspect(vantage, views, world))
    .flat();
  const left = confirming.filter((region) => !suspects.includes(region));
  return left.length < quorum;

  function isNetworkSuspect(
    vantage: string[],
    all: DatedView[],
    { rules }: World,
  ): boolean {
    const telling = all.filter(
      ({ state, badSince }) =>
        state !== "unknown" &&
        (badSince === null || badSince > at - rules.impaired_within_ms),
    );
    const here = telling.filter(({ region }) => vantage.includes(region));
    const touchedElsewhere = telling
      .filter((view) => !vantage.includes(view.region) && isTouched(view))
      .map(nameOf);

    const runs = here.flatMap(({ state, badRun, runFrom }) =>
      isBad(state) && badRun >= rules.opening_bad_run && runFrom !== null
        ? [runFrom]
        : [],
    );
    if (runs.length === 0) return false;
    const troubleAt = Math.max(...runs);
    const measured = here.filter(
      ({ newestAt }) => newestAt !== null && newestAt >= troubleAt,
    );
    const venues = [...new Set(measured.map(({ venue }) => venue))];
    const alone = venues.filter((venue) => {
      const ofVenue = measured.filter((view) => view.venue === venue);
      const touched = [...new Set(ofVenue.map(nameOf))].filter((name) =>
        ofVenue.filter((view) => nameOf(view) === name).every(isTouched),
      );
      return (
        touched.length > 0 &&
        !touched.some((name) => touchedElsewhere.includes(name))
      );
    });
    return (
      venues.length >= rules.impaired_min_venues &&
      alone.length / venues.length > rules.impaired_venue_share
    );
  }
}

function nameOf({ venue, component }: DatedView): string {
  return `${venue} ${component}`;
}

function isTouched({ state, badRun }: DatedView): boolean {
  return isBad(state) || badRun >= 1;
}
