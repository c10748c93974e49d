/**
 * What the second opinion judges: what is watched, what was measured, by which rules, and when it is asked. Times are
 * milliseconds since 1970.
 */

export type State = "operational" | "degraded" | "outage" | "unknown";

export interface World {
  rules: Rules;
  /** In the order of the registry, as the venues and their components are. */
  regions: string[];
  venues: Venue[];
  /** In any order. No two of a component and region have the same `ts`. */
  samples: Sample[];
  typical: Typical[];
  vantages: Vantage[];
  /** By operators. */
  retractions: Retraction[];
  /** Ascending. A step longer than `step_ms` was a pause longer than `catch_up_ms`: it is not made up for. */
  instants: number[];
}

export interface Venue {
  id: string;
  components: Component[];
}

export interface Component {
  /** `rest:ticker`, `ws:trades` */
  id: string;
  kind: "rest" | "ws";
  cadenceMs: number;
}

export interface Sample {
  venue: string;
  component: string;
  region: string;
  /** The slot. */
  ts: number;
  /** Null: good. */
  fault: string | null;
  /** The venue prevented the slot. Such a sample failed. */
  unserved: boolean;
  latencyUs: number | null;
  receivedAfterS: number;
}

/** After this instant was decided: of whichever incident of the component is open then. */
export interface Retraction {
  venue: string;
  component: string;
  at: number;
}

/** The typical latency that was reckoned for a boundary. */
export interface Typical {
  venue: string;
  component: string;
  region: string;
  boundary: number;
  latencyUs: number;
}

/** What the probes of a region reported of where they run. It holds until the region's next report. */
export interface Vantage {
  region: string;
  holdsFrom: number;
  /** The one machine that all of them run on. Null: several, or unknown. */
  machine: string | null;
}

/** The rules that a decision rests on, by the names of the rule book. */
export interface Rules {
  step_ms: number;
  catch_up_ms: number;
  window_ms: number;
  window_cadences: number;
  vote_max_age_ms: number;
  vote_max_age_cadences: number;
  min_samples: number;
  slow_multiple: number;
  slow_floor_ms: number;
  slow_untypical_ms: number;
  outage_bad_share: number;
  degraded_bad_share: number;
  degraded_min_failed: number;
  partial_windows: number;
  impaired_within_ms: number;
  impaired_min_venues: number;
  impaired_venue_share: number;
  outlier_after_ms: number;
  quorum_min_regions: number;
  opening_bad_run: number;
  recovery_hold_ms: number;
  flap_openings: number;
  flap_within_ms: number;
  flap_hold_ms: number;
  unmeasured_close_ms: number;
  retraction_every_ms: number;
  late_sample_ms: number;
  retraction_ms: number;
}

/** All samples of one component in one region, oldest first, with what is typical there. */
export interface Series {
  venue: string;
  component: Component;
  region: string;
  samples: Sample[];
  typical: Typical[];
}

export function isBad(state: State): boolean {
  return state === "degraded" || state === "outage";
}

/** A WebSocket stream, as against the socket that carries it. */
export function isStream({ kind, id }: Component): boolean {
  return kind === "ws" && id !== "ws:conn";
}

/** One for each component and region, those without a sample too. */
export function seriesOf(world: World): Series[] {
  return world.venues.flatMap((venue) =>
    venue.components.flatMap((component) =>
      world.regions.map((region) => {
        const isOfThis = (one: Sample | Typical) =>
          one.venue === venue.id && one.component === component.id && one.region === region;
        return {
          venue: venue.id,
          component,
          region,
          samples: world.samples.filter(isOfThis).toSorted((a, b) => a.ts - b.ts),
          typical: world.typical.filter(isOfThis),
        };
      }),
    ),
  );
}
