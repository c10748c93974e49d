/** Chapter 4 of the rule book: regions whose own network is bad. */
import type { RegionView } from "./region-view.js";
import { isBad, type World } from "./world.js";

export interface Impairment {
  region: string;
  /** In hindsight: before it was recognised. */
  startedAt: number;
  recognisedAt: number;
  endedAt: number | null;
  /** Those that it was recognised by, in the order of the registry. */
  venues: string[];
}

export interface DatedView extends RegionView {
  /** First instant of the unbroken sequence of bad states; null when the state is not bad. */
  badSince: number | null;
}

/** Ends and begins impairments as of this instant, in place. */
export function judgeImpairments(
  impairments: Impairment[],
  views: DatedView[],
  world: World,
  at: number,
): void {
  const viewOfVenue = (venue: string, region: string) =>
    new VenueThere(
      views.filter((view) => view.venue === venue && view.region === region),
      at - world.rules.impaired_within_ms,
    );

  // impaired regions are asked too
  const isBadElsewhere = (venue: string, region: string) =>
    world.regions.some(
      (other) => other !== region && viewOfVenue(venue, other).isBad,
    );

  for (const impairment of impairments.filter(isOngoing)) {
    const { region } = impairment;
    const stillAlone = impairment.venues.filter(
      (venue) =>
        viewOfVenue(venue, region).isBad && !isBadElsewhere(venue, region),
    );
    if (stillAlone.length <= impairment.venues.length / 2)
      impairment.endedAt = at;
  }

  // all are judged before any is recorded: two that become impaired at once are each asked about the other
  const unimpaired = world.regions.filter(
    (region) => !isImpaired(impairments, region),
  );
  const recognised: Impairment[] = [];
  for (const region of unimpaired) {
    const measured = world.venues
      .map(({ id }) => id)
      .filter((venue) => viewOfVenue(venue, region).isMeasured);
    const badHereAlone = measured.filter(
      (venue) =>
        viewOfVenue(venue, region).isFreshlyBad &&
        !isBadElsewhere(venue, region),
    );
    if (measured.length < world.rules.impaired_min_venues) continue;
    if (
      badHereAlone.length / measured.length <=
      world.rules.impaired_venue_share
    )
      continue;
    recognised.push({
      region,
      startedAt: Math.min(
        ...badHereAlone.flatMap(
          (venue) => viewOfVenue(venue, region).freshlyBadSince,
        ),
      ),
      recognisedAt: at,
      endedAt: null,
      venues: badHereAlone,
    });
  }
  impairments.push(...recognised);
}

export function isImpaired(impairments: Impairment[], region: string): boolean {
  return impairments.some((one) => one.region === region && isOngoing(one));
}

/** Whether the region was impaired at an earlier instant, as one knows by now. */
export function wasImpaired(
  impairments: Impairment[],
  region: string,
  then: number,
): boolean {
  return impairments.some(
    (one) =>
      one.region === region &&
      one.startedAt <= then &&
      (one.endedAt === null || then < one.endedAt),
  );
}

function isOngoing({ endedAt }: Impairment): boolean {
  return endedAt === null;
}

/** A venue as one region sees it. */
class VenueThere {
  readonly isMeasured: boolean;
  readonly isBad: boolean;
  readonly isFreshlyBad: boolean;
  /** One instant for each of its freshly bad components. */
  readonly freshlyBadSince: number[];

  constructor(views: DatedView[], freshAfter: number) {
    const known = views.filter(({ state }) => state !== "unknown");
    const bad = known.filter(({ state }) => isBad(state));
    this.freshlyBadSince = bad
      .map(({ badSince }) => badSince!)
      .filter((since) => since > freshAfter);
    this.isMeasured = known.length >= 1;
    this.isBad = this.isMeasured && bad.length >= known.length / 2;
    this.isFreshlyBad =
      this.isMeasured && this.freshlyBadSince.length >= known.length / 2;
  }
}
