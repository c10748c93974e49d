/** Chapter 4 of the rule book: regions whose own network is bad. */
import type { RegionView } from "./region-view.js";
import { vantagesAt } from "./vantage.js";
import { isBad, type World } from "./world.js";

export interface Impairment {
  region: string;
  /** The regions of the group that it was recognised for, in the order of the registry; one is the region itself. */
  group: string[];
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
  const seenBy = (group: string[]) => new GroupView(group, views, world, at);

  for (const impairment of impairments.filter(isOngoing)) {
    const group = seenBy(impairment.group);
    const stillAlone = impairment.venues.filter((venue) =>
      group.isBadAlone(venue),
    );
    if (stillAlone.length <= impairment.venues.length / 2)
      impairment.endedAt = at;
  }

  const shared = vantagesAt(world, at).filter(({ length }) => length >= 2);
  // those that are one region first: a region that is impaired by itself too is recorded by itself
  const groups = [...world.regions.map((region) => [region]), ...shared];
  // all are judged before any is recorded
  const recognised = groups.flatMap((group) => {
    const seen = seenBy(group);
    const venues = seen.venuesOfAnImpairment();
    if (!venues) return [];
    const startedAt = Math.min(
      ...venues.flatMap((venue) => seen.freshlyBadSince(venue)),
    );
    return [{ group, venues, startedAt }];
  });
  for (const one of recognised)
    for (const region of one.group)
      if (!isImpaired(impairments, region))
        impairments.push({ ...one, region, recognisedAt: at, endedAt: null });
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

/** Whether an impairment of the region lasted beyond the one instant, and began by the other. */
export function touchesImpairment(
  impairments: Impairment[],
  region: string,
  after: number,
  until: number,
): boolean {
  return impairments.some(
    (one) =>
      one.region === region &&
      one.startedAt <= until &&
      (one.endedAt === null || one.endedAt > after),
  );
}

/** Bad since less than what is still at once. */
export function isFreshlyBad(
  { badSince }: DatedView,
  { rules }: World,
  at: number,
): boolean {
  return badSince !== null && badSince > at - rules.impaired_within_ms;
}

function isOngoing({ endedAt }: Impairment): boolean {
  return endedAt === null;
}

/** What the regions of a group see together, at one instant. */
class GroupView {
  readonly #group: string[];
  readonly #views: DatedView[];
  readonly #world: World;
  readonly #at: number;

  constructor(group: string[], views: DatedView[], world: World, at: number) {
    this.#group = group;
    this.#views = views;
    this.#world = world;
    this.#at = at;
  }

  /** Undefined: these regions are not impaired. */
  venuesOfAnImpairment(): string[] | undefined {
    const { rules, venues } = this.#world;
    const measured = venues
      .map(({ id }) => id)
      .filter((venue) => this.#measuring(venue).length > 0);
    const freshlyBadAlone = measured.filter(
      (venue) =>
        this.#measuring(venue).every(({ isFreshlyBad }) => isFreshlyBad) &&
        this.isBadAlone(venue),
    );
    const share = freshlyBadAlone.length / measured.length;
    return measured.length >= rules.impaired_min_venues &&
      share > rules.impaired_venue_share
      ? freshlyBadAlone
      : undefined;
  }

  /** Impaired regions are asked too. */
  isBadAlone(venue: string): boolean {
    const measuring = this.#measuring(venue);
    return (
      measuring.length > 0 &&
      measuring.every(({ isBad }) => isBad) &&
      !this.#world.regions.some(
        (region) =>
          !this.#group.includes(region) && this.#seenFrom(region, venue).isBad,
      )
    );
  }

  /** One instant for each component that is freshly bad in a region of the group. */
  freshlyBadSince(venue: string): number[] {
    return this.#group.flatMap(
      (region) => this.#seenFrom(region, venue).freshlyBadSince,
    );
  }

  #measuring(venue: string): VenueThere[] {
    return this.#group
      .map((region) => this.#seenFrom(region, venue))
      .filter(({ isMeasured }) => isMeasured);
  }

  #seenFrom(region: string, venue: string): VenueThere {
    const there = this.#views.filter(
      (view) => view.venue === venue && view.region === region,
    );
    return new VenueThere(there, (view) =>
      isFreshlyBad(view, this.#world, this.#at),
    );
  }
}

/** A venue as one region sees it. */
class VenueThere {
  readonly isMeasured: boolean;
  readonly isBad: boolean;
  readonly isFreshlyBad: boolean;
  /** One instant for each of its freshly bad components. */
  readonly freshlyBadSince: number[];

  constructor(views: DatedView[], isFresh: (view: DatedView) => boolean) {
    const known = views.filter(({ state }) => state !== "unknown");
    const bad = known.filter(({ state }) => isBad(state));
    this.freshlyBadSince = bad.filter(isFresh).map(({ badSince }) => badSince!);
    this.isMeasured = known.length >= 1;
    this.isBad = this.isMeasured && bad.length >= known.length / 2;
    this.isFreshlyBad =
      this.isMeasured && this.freshlyBadSince.length >= known.length / 2;
  }
}
