/**
 * What really happened, noted outside of the service: what each probe took, what was acknowledged, what receivers got,
 * when venues failed, and when our own machines did. The checkers compare the service's words with it.
 */
import type { Sample } from "../shared/measurement/sample.js";

export interface Taken {
  region: string;
  /** The probe's name; its successor in the same directory has the same. */
  probe: string;
  sample: Sample;
  /** True time. */
  atMs: number;
}

/** A request that a receiver got. */
export interface Arrival {
  channel: string;
  eventId: number;
  /** The body of the request. */
  content: string;
  /** Whether it was answered with success. */
  isAccepted: boolean;
  atMs: number;
}

/** An instant that the engine decided. */
export interface Decision {
  core: string;
  instant: Date;
  /** The fence of the core's lease. */
  fence: number;
  /** When the core had the answer, in true time. */
  atMs: number;
}

/** An answer of the public API with status 200. */
export interface ReadBody {
  from: string;
  path: string;
  text: string;
  /** When it had arrived, in true time. */
  atMs: number;
}

/** A request that a venue's status page received. */
export interface FeedRequest {
  venue: string;
  path: string;
  atMs: number;
}

/** What a program waits for and holds. */
export interface Resources {
  /** The number of timers and other events. */
  pending: number;
  /** The ends of connections of its machine. */
  connections: number;
}

/** All states of the engine after an instant, in the lines of test/support/engine-on-worlds.ts. */
export interface EngineStates {
  instantMs: number;
  lines: string;
}

/** The states of all venues and of their components after an instant. */
export interface NotedStates {
  instantMs: number;
  venues: { venue: string; state: string; components: { component: string; state: string }[] }[];
}

/** Something lasted; `toMs` is Infinity while it does. */
export interface Period {
  what: string;
  fromMs: number;
  toMs: number;
}

export interface Ledger {
  taken: Map<string, Taken[]>;
  acknowledged: Set<string>;
  arrivals: Arrival[];
  /** Those whose answer the core got. */
  decisions: Decision[];
  states: EngineStates[];
  notedStates: NotedStates[];
  bodies: ReadBody[];
  feedRequests: FeedRequest[];
  /** The resources of each program before the first fault. */
  resources: Map<string, Resources>;
  /** By the name of a venue, a machine or a process. */
  periods: Map<string, Period[]>;
  begin: (of: string, what: string, atMs: number) => Period;
}

export function makeLedger(): Ledger {
  const periods = new Map<string, Period[]>();
  return {
    ...{ taken: new Map(), acknowledged: new Set(), arrivals: [], decisions: [], states: [], notedStates: [] },
    ...{ bodies: [], feedRequests: [], resources: new Map(), periods },
    begin(of, what, atMs) {
      const period = { what, fromMs: atMs, toMs: Infinity };
      periods.set(of, [...(periods.get(of) ?? []), period]);
      return period;
    },
  };
}

/** The key under which a sample is stored once. */
export function keyOf(region: string, { venue, component, slotAt }: Pick<Sample, "venue" | "component" | "slotAt">) {
  return `${region} ${venue} ${component} ${slotAt.toISOString()}`;
}

/** Whether any of the periods touches the given one. */
export function isTouched(periods: readonly Period[] | undefined, fromMs: number, toMs: number): boolean {
  return (periods ?? []).some((one) => one.fromMs <= toMs && one.toMs >= fromMs);
}
