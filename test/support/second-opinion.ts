/**
 * An independent implementation of the rule book: written from docs/rulebook.md without looking at the engine's SQL,
 * sample by sample and in plain loops, so that an error would have to be made twice. Each chapter is a file in
 * `second-opinion/`.
 */
import { type DatedView, type Impairment, isImpaired, judgeImpairments } from "../second-opinion/impairment.js";
import {
  type Alert,
  type ComponentNow,
  type Incident,
  isOfComponent,
  isOpen,
  moveIncidents,
  type Records,
  retractByHand,
} from "../second-opinion/incidents.js";
import { isOutlier, judgeOutliers, type Outlier } from "../second-opinion/outliers.js";
import { confirm, stateOfAll, stateOfVenue, unproven } from "../second-opinion/quorum.js";
import { viewOf } from "../second-opinion/region-view.js";
import { isSuspect } from "../second-opinion/suspicion.js";
import { isBad, seriesOf, type Series, type State, type World } from "../second-opinion/world.js";

export interface Opinion {
  /** All states at each instant. */
  moments: Moment[];
  /** Incidents after the last instant, like the other lists. */
  incidents: Incident[];
  alerts: Alert[];
  impairments: Impairment[];
  outliers: Outlier[];
}

export interface Moment {
  at: number;
  /** Every component in every region. */
  views: DatedView[];
  /** Ongoing ones. */
  impaired: Impairment[];
  /** Present ones. */
  outliers: Outlier[];
  components: ComponentState[];
  venues: VenueState[];
  fleet: State;
}

export interface ComponentState {
  venue: string;
  component: string;
  state: State;
  since: number;
  /** Null: it is bad. */
  notBadSince: number | null;
  unjudged: ComponentNow["unjudged"];
  provenAt: number | null;
  counted: number;
  quorum: number;
  suspect: boolean;
}

export interface VenueState {
  venue: string;
  state: State;
  since: number;
}

export function secondOpinion(world: World): Opinion {
  const series = seriesOf(world);
  const records: Records = { incidents: [], alerts: [] };
  const impairments: Impairment[] = [];
  const outliers: Outlier[] = [];
  const moments: Moment[] = [];

  for (const at of world.instants) {
    const last = moments.at(-1);
    const missed = last && at - last.at > world.rules.step_ms;
    const before = missed ? undefined : last;

    const views = datedViews(world, series, impairments, records.incidents, before, at);
    const proofs = proofsOf(world, views, last, at);
    judgeImpairments(impairments, provenOf(views, proofs), world, at);
    for (const component of componentsBefore(world, before, records))
      judgeOutliers(outliers, component, views.filter(isOfComponent(component)), impairments, world, at);
    const components = componentsNow(world, views, proofs, impairments, outliers, before, at);
    const venues = venuesNow(world, components, before, at);
    const now = { at, world, series, impairments, outliers, views, components };
    moveIncidents(records, now);
    retractByHand(records, now);

    moments.push({
      at,
      views,
      impaired: impairments.filter(({ endedAt }) => endedAt === null).map((one) => ({ ...one })),
      outliers: outliers.filter(({ endedAt }) => endedAt === null).map((one) => ({ ...one })),
      components: components.map(({ votes, ...one }) => ({ ...one, counted: votes.length })),
      venues,
      fleet: stateOfAll(venues.map(({ state }) => state)),
    });
  }
  return { moments, ...records, impairments, outliers };
}

function datedViews(
  { rules }: World,
  series: Series[],
  impairments: Impairment[],
  incidents: Incident[],
  before: Moment | undefined,
  at: number,
): DatedView[] {
  return series.map((one, place) => {
    const view = viewOf(one, at, at, rules, impairments, incidents);
    // the series keep their order
    const past = before?.views[place];
    return isBad(view.state)
      ? { ...view, badSince: past?.badSince ?? at, badUntil: past?.badUntil ?? null }
      : { ...view, badSince: null, badUntil: past?.badSince != null ? at : (past?.badUntil ?? null) };
  });
}

function componentsBefore({ venues }: World, before: Moment | undefined, { incidents }: Records) {
  return venues.flatMap(({ id, components }) =>
    components.map((component) => {
      const one = { venue: id, component: component.id };
      return {
        ...one,
        state: before?.components.find(isOfComponent(one))!.state,
        hasOpenIncident: incidents.filter(isOpen).some((incident) => isOfComponent(one)(incident)),
      };
    }),
  );
}

/** Whether a component's samples say something about the venue, and since when it was seen good. */
interface Proof extends Pick<ComponentNow, "venue" | "component" | "provenAt"> {
  /** Why they do not; null: they do. */
  reason: ReturnType<typeof unproven>;
}

function proofsOf({ venues }: World, views: DatedView[], last: Moment | undefined, at: number): Proof[] {
  return venues.flatMap((venue) =>
    venue.components.map((component) => {
      const one = { venue: venue.id, component: component.id };
      // stays known through a pause
      const known = last?.components.find(isOfComponent(one))?.provenAt ?? null;
      const isProven = component.isNew && views.filter(isOfComponent(one)).some(hasGood);
      const provenAt = known ?? (isProven ? at : null);
      return { ...one, provenAt, reason: unproven(component, provenAt, at) };
    }),
  );
}

function componentsNow(
  world: World,
  views: DatedView[],
  proofs: Proof[],
  impairments: Impairment[],
  outliers: Outlier[],
  before: Moment | undefined,
  at: number,
): ComponentNow[] {
  const proven = provenOf(views, proofs);
  return world.venues.flatMap((venue) =>
    venue.components.map((component) => {
      const one = { venue: venue.id, component: component.id };
      const its = views.filter(isOfComponent(one));
      const confirmed = confirm(
        its,
        (region) => isImpaired(impairments, region, at),
        (region) => isOutlier(outliers, { ...one, region }, at),
        world,
        at,
      );
      const { quorum, votes } = confirmed;
      const { provenAt, reason } = proofs.find(isOfComponent(one))!;
      const state = reason ? "unknown" : confirmed.state;
      const confirming = votes.filter(({ confirms }) => confirms).map(({ region }) => region);
      const past = before?.components.find(isOfComponent(one));
      return {
        ...one,
        state,
        since: past?.state === state ? past.since : at,
        notBadSince: isBad(state) ? null : (past?.notBadSince ?? at),
        unjudged: reason ?? (confirmed.isBlocked ? ("blocked" as const) : null),
        provenAt,
        quorum,
        votes,
        suspect: isBad(state) && isSuspect({ ...one, confirming }, quorum, proven, world, at),
      };
    }),
  );
}

function provenOf(views: DatedView[], proofs: Proof[]): DatedView[] {
  return views.filter((view) => proofs.find(isOfComponent(view))!.reason === null);
}

function hasGood({ samples, failed, newestFault }: DatedView): boolean {
  return samples > failed || newestFault === "stale";
}

function venuesNow(world: World, components: ComponentNow[], before: Moment | undefined, at: number): VenueState[] {
  return world.venues.map(({ id }) => {
    const state = stateOfVenue(components.filter(({ venue, unjudged }) => venue === id && unjudged !== "ended"));
    const past = before?.venues.find(({ venue }) => venue === id);
    return { venue: id, state, since: past?.state === state ? past.since : at };
  });
}
