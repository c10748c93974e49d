/**
 * The rule book, read a second time: written from RULEBOOK.md without a look at the engine's SQL, sample by sample and
 * in plain loops, so that an error would have to be made twice. Each chapter is a file in `second-opinion/`.
 */
import {
  type DatedView,
  type Impairment,
  isImpaired,
  judgeImpairments,
} from "./second-opinion/impairment.js";
import {
  type Alert,
  type ComponentNow,
  type Incident,
  moveIncidents,
  type Records,
  retractByHand,
} from "./second-opinion/incidents.js";
import { confirm, stateOfAll } from "./second-opinion/quorum.js";
import { viewOf } from "./second-opinion/region-view.js";
import { isSuspect } from "./second-opinion/suspicion.js";
import {
  isBad,
  seriesOf,
  type Series,
  type State,
  type World,
} from "./second-opinion/world.js";

export interface Opinion {
  /** What stood at each instant. */
  moments: Moment[];
  /** As they stood after the last instant; so do the others. */
  incidents: Incident[];
  alerts: Alert[];
  impairments: Impairment[];
}

export interface Moment {
  at: number;
  /** Every component in every region. */
  views: DatedView[];
  /** Ongoing ones. */
  impaired: Impairment[];
  components: ComponentState[];
  venues: VenueState[];
  fleet: State;
}

export interface ComponentState {
  venue: string;
  component: string;
  state: State;
  since: number;
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
  const moments: Moment[] = [];

  for (const at of world.instants) {
    const last = moments.at(-1);
    const missed = last && at - last.at > world.rules.step_ms;
    const before = missed ? undefined : last;

    const views = datedViews(world, series, impairments, before, at);
    judgeImpairments(impairments, views, world, at);
    const components = componentsNow(world, views, impairments, before, at);
    const venues = venuesNow(world, components, before, at);
    const now = { at, world, series, impairments, views, components };
    moveIncidents(records, now);
    retractByHand(records, now);

    moments.push({
      at,
      views,
      impaired: impairments
        .filter(({ endedAt }) => endedAt === null)
        .map((one) => ({ ...one })),
      components: components.map(({ votes, ...one }) => ({
        ...one,
        counted: votes.length,
      })),
      venues,
      fleet: stateOfAll(venues.map(({ state }) => state)),
    });
  }
  return { moments, ...records, impairments };
}

function datedViews(
  { rules }: World,
  series: Series[],
  impairments: Impairment[],
  before: Moment | undefined,
  at: number,
): DatedView[] {
  return series.map((one, place) => {
    const view = viewOf(one, at, at, rules, impairments);
    // the series keep their places
    const since = before?.views[place]!.badSince ?? at;
    return { ...view, badSince: isBad(view.state) ? since : null };
  });
}

function componentsNow(
  world: World,
  views: DatedView[],
  impairments: Impairment[],
  before: Moment | undefined,
  at: number,
): ComponentNow[] {
  return world.venues.flatMap((venue) =>
    venue.components.map((component) => {
      const { state, quorum, votes } = confirm(
        views.filter(
          (view) => view.venue === venue.id && view.component === component.id,
        ),
        (region) => isImpaired(impairments, region),
        world,
      );
      const counted = votes.map(({ region }) => region);
      const past = before?.components.find(
        (one) => one.venue === venue.id && one.component === component.id,
      );
      return {
        venue: venue.id,
        component: component.id,
        state,
        since: past?.state === state ? past.since : at,
        quorum,
        votes,
        suspect: isBad(state) && isSuspect(counted, views, world, at),
      };
    }),
  );
}

function venuesNow(
  world: World,
  components: ComponentNow[],
  before: Moment | undefined,
  at: number,
): VenueState[] {
  return world.venues.map(({ id }) => {
    const state = stateOfAll(
      components.filter(({ venue }) => venue === id).map(({ state }) => state),
    );
    const past = before?.venues.find(({ venue }) => venue === id);
    return { venue: id, state, since: past?.state === state ? past.since : at };
  });
}
