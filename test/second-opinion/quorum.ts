/** Chapter 5 of the rule book: the states of a component, a venue and the fleet that the regions confirm together. */
import { vantagesAt } from "./vantage.js";
import type { RegionView } from "./view.js";
import { type Component, isBad, type State, type World } from "./world.js";

export interface Confirmed<View> {
  state: State;
  quorum: number;
  /** The views of the counted regions. */
  votes: View[];
  /** More counted regions would see it bad if refusals from too few vantages counted, and none sees it well. */
  isBlocked: boolean;
}

/** The quorum for this number of counted regions. */
export function quorumOf(counted: number, { regions, rules }: Pick<World, "regions" | "rules">): number {
  return Math.max(Math.floor(counted / 2) + 1, Math.min(rules.quorum_min_regions, regions.length));
}

/** @param views the views of all regions on one component */
export function confirm<View extends RegionView>(
  views: View[],
  isImpaired: (region: string) => boolean,
  isOutlier: (region: string) => boolean,
  world: World,
  at: number,
): Confirmed<View> {
  const asked = views.filter((view) => view.reporting && !isImpaired(view.region));
  const refused = refusedFromFewPlaces(asked, world, at);
  const votes = asked.filter(({ region }) => !isOutlier(region) && !refused.includes(region));
  const quorum = quorumOf(votes.length, world);
  const badElsewhere = asked.filter((view) => isBad(view.state) && !votes.includes(view)).length;
  const see = (what: (state: State) => boolean) => votes.filter(({ state }) => what(state)).length;

  let state: State;
  if (see((state) => state === "outage") >= quorum) state = "outage";
  else if (see(isBad) >= quorum) state = "degraded";
  else if (see((state) => state !== "unknown") + badElsewhere < quorum) state = "unknown";
  else if (see((state) => state === "operational") === 0) state = "unknown";
  else state = "operational";

  const isBlocked = state === "unknown" && refused.length > see(isBad) && see((one) => one === "operational") === 0;
  return { state, quorum, votes, isBlocked };
}

/** The regions that the venue refuses, if they stand at too few vantages. */
function refusedFromFewPlaces(asked: RegionView[], world: World, at: number): string[] {
  const regions = asked.filter(({ isRefused, state }) => isRefused && isBad(state)).map(({ region }) => region);
  const places = vantagesAt(world, at).filter((vantage) => vantage.some((region) => regions.includes(region)));
  return places.length < world.rules.blocked_min_vantages ? regions : [];
}

/** Why its samples say nothing about the venue, whatever they are; null: they do. */
export function unproven({ endsAt, isNew }: Component, provenAt: number | null, at: number): "ended" | "never" | null {
  if (endsAt != null && endsAt <= at) return "ended";
  return isNew && (provenAt === null || provenAt > at) ? "never" : null;
}

/** A venue's state, from the states of its components. REST and streams are judged separately. */
export function stateOfVenue(components: { component: string; state: State }[]): State {
  const of = (kind: string) =>
    components.filter(({ component }) => component.startsWith(`${kind}:`)).map(({ state }) => state);
  const all = stateOfAll(components.map(({ state }) => state));
  if (all === "unknown") return all;
  if ([stateOfAll(of("rest")), stateOfAll(of("ws"))].includes("outage")) return "outage";
  return components.some(({ state }) => isBad(state)) ? "degraded" : "operational";
}

/** The fleet's state, from the states of its venues, of which at least half must be known. */
export function stateOfAll(states: State[]): State {
  const known = states.filter((state) => state !== "unknown");
  const inOutage = known.filter((state) => state === "outage");
  if (known.length === 0 || known.length < states.length / 2) return "unknown";
  if (inOutage.length >= states.length / 2) return "outage";
  if (known.some(isBad)) return "degraded";
  return "operational";
}
