/** Chapter 4 of the rule book: regions whose own network fails. */
import type { RegionView } from "./view.js";
import { vantagesAt } from "./vantage.js";
import { isBad, type Rules, type World } from "./world.js";

export interface Impairment {
  region: string;
  /** The regions of the group for which it was recognised, in the order of the registry, including this region. */
  group: string[];
  /** Determined in hindsight, so it is earlier than `recognisedAt`. */
  startedAt: number;
  recognisedAt: number;
  endedAt: number | null;
  /** Whether it ended because other regions saw the same: then it was not the region's own trouble. */
  seenElsewhere: boolean;
  /** The venues by which it was recognised, in the order of the registry. */
  venues: string[];
}

export interface DatedView extends RegionView {
  /** First instant of the unbroken sequence of bad states; null when the state is not bad. */
  badSince: number | null;
  /** First instant after the last bad state; null when there was none before this one. */
  badUntil: number | null;
}

/** Ends and starts impairments as of this instant; changes the list in place. */
export function judgeImpairments(impairments: Impairment[], views: DatedView[], world: World, at: number): void {
  const settled = () =>
    impairments.filter((one) => isOngoing(one) && isSettled(one, at, world.rules)).map(({ region }) => region);
  // a region's view of a moment ago counts only if the region had no trouble of its own meanwhile
  const ownTrouble = () =>
    world.regions.filter((region) =>
      impairments.some(
        (one) =>
          one.region === region &&
          !one.seenElsewhere &&
          (one.endedAt === null || one.endedAt > at - world.rules.impaired_within_ms),
      ),
    );
  const seenNow = (asOf: { settled: string[]; ownTrouble: string[] }) => (group: string[]) =>
    new GroupView(group, views, world, at, asOf.ownTrouble, asOf.settled);

  // judge all of them before any of them ends
  const seenBefore = seenNow({ settled: settled(), ownTrouble: ownTrouble() });
  for (const impairment of impairments.filter(isOngoing)) {
    const group = seenBefore(impairment.group);
    const mostAre = (isSo: (venue: string) => boolean) =>
      impairment.venues.filter(isSo).length > impairment.venues.length / 2;
    if (isSettled(impairment, at, world.rules)) {
      if (mostAre((venue) => group.isCutOff(venue))) continue;
    } else {
      if (mostAre((venue) => group.isCutOffAlone(venue))) continue;
      impairment.seenElsewhere = mostAre((venue) => group.isBad(venue));
    }
    impairment.endedAt = at;
  }

  // impairments that have just ended no longer count
  const seenAfter = seenNow({ settled: settled(), ownTrouble: ownTrouble() });
  const shared = vantagesAt(world, at).filter(({ length }) => length >= 2);
  // single regions first: a region that is impaired both alone and in a group is recorded alone
  const groups = [...world.regions.map((region) => [region]), ...shared];
  // judge all groups before any impairment is recorded
  const recognised = groups.flatMap((group) => {
    const seen = seenAfter(group);
    const venues = seen.venuesOfAnImpairment();
    if (!venues) return [];
    const began = venues.flatMap((venue) => seen.beginningsOfOwnTrouble(venue));
    const startedAt = began.length > 0 ? Math.min(...began) : at;
    return [{ group, venues, startedAt }];
  });
  for (const one of recognised)
    for (const region of one.group)
      if (
        !isImpaired(impairments, region, at) &&
        one.venues.filter((venue) => seenAfter([region]).isCutOff(venue)).length > one.venues.length / 2
      )
        impairments.push({ ...one, region, recognisedAt: at, endedAt: null, seenElsewhere: false });
}

/**
 * Whether the region has no vote at this instant, or had none at an earlier one, by what is known now. An impairment
 * still applies at the instant at which it ends, unless others saw the same.
 */
export function isImpaired(impairments: Impairment[], region: string, at: number): boolean {
  return impairments.some(
    (one) =>
      one.region === region &&
      one.startedAt <= at &&
      (one.endedAt === null || at < one.endedAt || (at === one.endedAt && !one.seenElsewhere)),
  );
}

/** Whether a retraction leaves out the region's vote at the opening, by the impairments that are recorded now. */
export function isImpairedInHindsight(
  impairments: Impairment[],
  region: string,
  openedAt: number,
  now: number,
  { rules }: World,
): boolean {
  const shown = impairments.filter((one) => isShown(one, openedAt, now, rules));
  return isImpaired(shown, region, openedAt);
}

/** Whether it was known at this instant, or has proved to be the region's own trouble since. */
function isShown({ recognisedAt, endedAt, seenElsewhere }: Impairment, at: number, now: number, rules: Rules): boolean {
  if (recognisedAt <= at) return true;
  if (endedAt !== null) return !seenElsewhere;
  return recognisedAt <= now - rules.impaired_within_ms;
}

/** Whether a bad sample of this slot is left out, because trouble of the region that is over caused it. */
export function isOfOwnTrouble(impairments: Impairment[], region: string, slot: number): boolean {
  return impairments.some(
    (one) =>
      one.region === region &&
      one.endedAt !== null &&
      !one.seenElsewhere &&
      slot >= one.startedAt &&
      slot < one.endedAt,
  );
}

/** Whether the region had trouble of its own between two instants, as known at the later one or now. */
export function hadOwnTrouble(
  impairments: Impairment[],
  region: string,
  { after, until, now }: { after: number; until: number; now: number },
  rules: Rules,
): boolean {
  return impairments.some(
    (one) =>
      one.region === region &&
      one.startedAt <= until &&
      (one.endedAt === null || (one.endedAt > after && !(one.seenElsewhere && one.endedAt <= until))) &&
      isShown(one, until, now, rules),
  );
}

/** Whether it was cut off so recently that this counts as at once. */
function isFreshlyCutOff({ badSince, mayBeOurs }: DatedView, { rules }: World, at: number): boolean {
  return badSince !== null && badSince > at - rules.impaired_within_ms && mayBeOurs;
}

/** Whether it has lasted so long that other regions would have seen the same by now. */
function isSettled({ recognisedAt }: Impairment, at: number, rules: Rules): boolean {
  return recognisedAt <= at - rules.impaired_within_ms;
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
  readonly #ownTrouble: string[];
  readonly #settled: string[];

  constructor(group: string[], views: DatedView[], world: World, at: number, ownTrouble: string[], settled: string[]) {
    this.#ownTrouble = ownTrouble;
    this.#settled = settled;
    this.#group = group;
    this.#views = views;
    this.#world = world;
    this.#at = at;
  }

  /** Undefined: these regions are not impaired. */
  venuesOfAnImpairment(): string[] | undefined {
    const { rules, venues } = this.#world;
    const measured = venues.map(({ id }) => id).filter((venue) => this.#measuring(venue).length > 0);
    const freshlyAlone = measured.filter(
      (venue) => this.#measuring(venue).every(({ isFreshlyCutOff }) => isFreshlyCutOff) && this.isCutOffAlone(venue),
    );
    const share = freshlyAlone.length / measured.length;
    return measured.length >= rules.impaired_min_venues && share > rules.impaired_venue_share
      ? freshlyAlone
      : undefined;
  }

  isBad(venue: string): boolean {
    const measuring = this.#measuring(venue);
    return measuring.length > 0 && measuring.every(({ isBad }) => isBad);
  }

  isCutOff(venue: string): boolean {
    const measuring = this.#measuring(venue);
    return measuring.length > 0 && measuring.every(({ isCutOff }) => isCutOff);
  }

  /** Also compares with regions that have just become impaired. */
  isCutOffAlone(venue: string): boolean {
    return this.isCutOff(venue) && !this.#asked().some((region) => this.#seenFrom(region, venue).isLatelyBad);
  }

  /** The start of each component's trouble that is new in a region of the group, and was not seen elsewhere lately. */
  beginningsOfOwnTrouble(venue: string): number[] {
    const elsewhere = this.#asked().flatMap((region) =>
      this.#seenFrom(region, venue).latelyBad.map(({ component }) => component),
    );
    return this.#group
      .flatMap((region) => this.#seenFrom(region, venue).freshlyCutOff)
      .filter(({ component }) => !elsewhere.includes(component))
      .flatMap(({ badSince, runFrom }) => [badSince, runFrom])
      .filter((at) => at !== null);
  }

  /** The regions outside of the group without a settled impairment. */
  #asked(): string[] {
    return this.#world.regions.filter((region) => !this.#group.includes(region) && !this.#settled.includes(region));
  }

  #measuring(venue: string): VenueThere[] {
    return this.#group.map((region) => this.#seenFrom(region, venue)).filter(({ isMeasured }) => isMeasured);
  }

  #seenFrom(region: string, venue: string): VenueThere {
    const there = this.#views.filter((view) => view.venue === venue && view.region === region);
    const { impaired_within_ms } = this.#world.rules;
    return new VenueThere(
      there,
      (view) => isFreshlyCutOff(view, this.#world, this.#at),
      ({ badUntil }) =>
        !this.#ownTrouble.includes(region) && badUntil !== null && badUntil > this.#at - impaired_within_ms,
    );
  }
}

/** A venue as one region sees it. */
class VenueThere {
  readonly isMeasured: boolean;
  readonly isBad: boolean;
  /** The region's network may be the reason. */
  readonly isCutOff: boolean;
  readonly isFreshlyCutOff: boolean;
  readonly isLatelyBad: boolean;
  readonly latelyBad: DatedView[];
  readonly freshlyCutOff: DatedView[];

  constructor(views: DatedView[], isFresh: (view: DatedView) => boolean, wasBad: (view: DatedView) => boolean) {
    const known = views.filter(({ state }) => state !== "unknown");
    const bad = known.filter(({ state }) => isBad(state));
    this.freshlyCutOff = bad.filter(isFresh);
    this.isMeasured = known.length >= 1 && known.length >= views.length / 2;
    this.isBad = this.isMeasured && bad.length >= known.length / 2;
    this.latelyBad = views.filter((view) => isBad(view.state) || wasBad(view));
    const lately = this.latelyBad.filter((view) => known.includes(view));
    this.isLatelyBad = this.isMeasured && lately.length >= known.length / 2;
    const isSilent = !bad.some(({ answersBadly }) => answersBadly);
    this.isCutOff = this.isMeasured && isSilent && bad.filter(({ mayBeOurs }) => mayBeOurs).length >= known.length / 2;
    this.isFreshlyCutOff = this.isMeasured && isSilent && this.freshlyCutOff.length >= known.length / 2;
  }
}
