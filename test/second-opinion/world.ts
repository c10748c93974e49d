/**
 * The input of the second opinion: what is watched, what was measured, the rules, and the instants to decide. Times are
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
  /** Retractions by operators. */
  retractions: Retraction[];
  /** Ascending. A step longer than `step_ms` is a pause longer than `catch_up_ms`, whose instants are not decided. */
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
  /** Its entry is new at the first instant: until then no region has seen it good. */
  isNew?: boolean;
  /** From then on it is unknown, by its entry; null or absent: no end is known. */
  endsAt?: number | null;
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

/** Retracts the incident of the component that is open after this instant was decided. */
export interface Retraction {
  venue: string;
  component: string;
  at: number;
}

/** The typical latency that was computed for a boundary. */
export interface Typical {
  venue: string;
  component: string;
  region: string;
  boundary: number;
  latencyUs: number;
}

/** What the probes of a region reported about where they run. It is valid until the region's next report. */
export interface Vantage {
  region: string;
  holdsFrom: number;
  /** The machine that all of them run on; null: several machines, or unknown. */
  machine: string | null;
}

/** The rules that decisions depend on, by their names in the rule book. */
export interface Rules {
  step_ms: number;
  catch_up_ms: number;
  window_ms: number;
  window_cadences: number;
  vote_max_age_ms: number;
  vote_max_age_cadences: number;
  min_samples: number;
  gap_room_samples: number;
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
  blocked_min_vantages: number;
  refusal_pause_ms: number;
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

/** All samples of one component in one region, oldest first, with the typical latencies there. */
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

/** Whether it is a WebSocket stream, and not the socket that carries the streams. */
export function isStream({ kind, id }: Component): boolean {
  return kind === "ws" && id !== "ws:conn";
}

/** One series per component and region, including those without samples. */
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
