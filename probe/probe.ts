import type { Log } from "../shared/log/log.js";
import type { Sample, Trouble } from "../shared/measurement/sample.js";
import { type Clock, systemClock } from "../shared/process/clock.js";
import { type EventLoopWatch, startEventLoopWatch, tolerableMs } from "../shared/process/event-loop-watch.js";
import { measuredIn } from "../shared/registry/addresses.js";
import { readChains, watchedVenues } from "../shared/registry/chain-venues.js";
import { hostsOf } from "../shared/registry/components.js";
import type { Registry, RestEndpoint, Venue } from "../shared/registry/registry.js";
import { withoutEnded } from "../shared/registry/venue-end.js";
import type { RecordSamples } from "./delivery/recorder.js";
import { type ShipStatus, startShip } from "./delivery/ship.js";
import type { Spool } from "./delivery/spool.js";
import { makeChainHeads } from "./measure/chain.js";
import { type ClockError, type ClockWatch, exceedsTolerance, makeClockWatch } from "./measure/clock-error.js";
import { type Counterpart, makeCounterpart } from "./measure/counterpart.js";
import { isUnmeasured, type MeasurementOutcome } from "./measure/measurement.js";
import { makePauses } from "./measure/pauses.js";
import { makeAgeVerdict } from "./measure/rest/age-verdict.js";
import { makeRest } from "./measure/rest/rest.js";
import { startStreams } from "./measure/stream/stream.js";
import { makeTroubles } from "./network/probe-troubles.js";
import { makeResolver } from "./network/resolver.js";
import { makePhases, makeSchedule, type SlotCounts, startSlotCounters, type Task } from "./schedule/schedule.js";
import { chainCounterpart, chainTasks, restTasks } from "./schedule/tasks.js";
import { makeWatchedVenues, type WatchedVenue } from "./schedule/watched-venues.js";

export interface ProbeOptions {
  registry: Registry;
  /** Id of the region that this probe measures from. */
  region: string;
  version: string;
  siteUrl: string;
  /** Holds samples until they are delivered. The probe closes it. */
  spool: Spool;
  record: RecordSamples;
  log: Log;
  /** Ids of the venues to measure from the start; default: all of the registry. */
  venues?: readonly string[];
  clock?: Clock;
  /** Called when a slot is run, with the delay after its scheduled instant. */
  onTurn?: (lateMs: number) => void;
}

export interface ProbeStatus extends SlotCounts, ShipStatus {
  socketsOpen: number;
  /** Ids of the venues that are being measured. */
  watching: string[];
  /** Current probe troubles. */
  troubles: Trouble[];
  /** The error of this machine's clock; null while too few venues agree. */
  clock: ClockError | null;
  certificates: readonly SeenCertificate[];
}

export interface Probe {
  status(): ProbeStatus;
  /** Measures only these venues from now on, except those that have ended; ignores ids that are not in the registry. */
  watch: (venues: readonly string[]) => void;
  /**
   * Stops measuring, then delivers waiting samples for up to 2.5 s, because the supervisor kills the probe after 3 s.
   */
  close: () => Promise<void>;
}

/** Measures venues of the registry from one region. It survives every fault of a venue or of the database. */
export function startProbe(options: ProbeOptions): Probe {
  const { region, version, siteUrl, spool, record, log } = options;
  const registry = measuredIn(options.registry, region);
  const clock = options.clock ?? systemClock;
  const userAgent = `venuewatch/${version} (+${siteUrl}; region=${region})`;
  const clockWatch = makeClockWatch();
  const resolver = makeResolver(withoutEnded(registry, clock.now()).venues.flatMap(hostsOf));
  const tally = startSlotCounters(log);
  const ship = startShip({ spool, record, log });
  const troubles = makeTroubles({
    clockError: () => clockWatch.read(),
    spoolTrouble: () => ship.status().trouble,
    log,
  });
  const watch = startEventLoopWatch();
  const certificates = makeSeenCertificates();
  const rest = makeRest({ userAgent, resolver, clock: clockWatch, pauses: makePauses() });
  const chains = readChains(registry);
  const heads = makeChainHeads(chains);
  const schedule = makeSchedule({
    phaseOf: makePhases(options.registry, region),
    clock,
    log,
    onSample(sample) {
      tally.taken(sample.slotAt);
      certificates.see(sample);
      ship.add(sample);
    },
    onUnmeasured(reason, slots, venue) {
      tally.unmeasured(reason, slots);
      troubles.unmeasured(reason, slots, venue);
    },
    ...(options.onTurn && { onTurn: options.onTurn }),
  });
  const all = watchedVenues(registry);
  const venues = makeWatchedVenues(all, begin, clock);
  venues.watchOnly(options.venues ?? all.map(({ id }) => id));

  function begin(venue: Venue, openAfterMs: number): WatchedVenue {
    const counterparts = counterpartsOf(venue);
    const verdictOn = (endpoint: RestEndpoint) =>
      makeAgeVerdict({
        ...{ venue, endpoint, heads, log },
        clock: clockWatch,
        counterpart: counterparts.get(endpoint.name) ?? null,
      });
    const streams =
      venue.socket &&
      startStreams({
        ...{ venue, openAfterMs, userAgent, resolver, watch, counterparts, log },
        socket: venue.socket,
        chain: chainCounterpart(venue, chains, heads),
        clock: clockWatch,
      });
    const endTasks = schedule.begin(
      [
        ...restTasks(venue, rest, watch, verdictOn),
        ...chainTasks(venue, heads),
        ...(streams?.tasks.map(slotWatched(watch)) ?? []),
      ].map(inRightTime(clockWatch)),
    );
    return {
      socketsOpen: () => streams?.socketsOpen() ?? 0,
      async end() {
        await endTasks();
        streams?.close();
        resolver.forget(hostsOf(venue));
      },
    };
  }

  return {
    status: () => ({
      ...tally.status(),
      ...ship.status(),
      socketsOpen: [...venues.watched.values()].reduce((sum, { socketsOpen }) => sum + socketsOpen(), 0),
      watching: [...venues.watched.keys()],
      troubles: troubles.read(),
      clock: clockWatch.read(),
      certificates: certificates.all().filter(({ venue }) => venues.watched.has(venue)),
    }),
    watch(ids) {
      // others have its venues while its clock is wrong, but only answers show when it is right again
      if (!exceedsTolerance(clockWatch.read())) venues.watchOnly(ids);
    },
    async close() {
      await schedule.close();
      await venues.endAll();
      await rest.close();
      watch.close();
      await ship.close();
      tally.close();
    },
  };
}

/** The endpoints that show the newest event at the venue, by name. */
function counterpartsOf({ rest }: Venue): ReadonlyMap<string, Counterpart> {
  return new Map(rest.filter(({ newest }) => newest).map(({ name, cadenceMs }) => [name, makeCounterpart(cadenceMs)]));
}

/**
 * A stream's slot lies before its scheduled instant. A standstill of this process in that time can look like silence of
 * the stream.
 */
function slotWatched(watch: EventLoopWatch) {
  return (task: Task): Task => ({
    ...task,
    async measure(slotAt, signal) {
      const outcome = await task.measure(slotAt, signal);
      return watch.stalledSince(performance.now() - task.cadenceMs, tolerableMs.silence)
        ? { unmeasured: "starved" }
        : outcome;
    },
  });
}

/**
 * Withholds samples while the clock is too wrong: they would occupy another slot's key. Measurements continue, because
 * their Date headers show when the clock is right again. At smaller errors, a sample with a chain head records the
 * clock error, because heads of other probes are compared with it.
 */
function inRightTime(clock: ClockWatch) {
  return (task: Task): Task => ({
    ...task,
    async measure(slotAt, signal): Promise<MeasurementOutcome> {
      const outcome = await task.measure(slotAt, signal);
      const error = clock.read();
      if (exceedsTolerance(error)) return { unmeasured: "clock" };
      if (isUnmeasured(outcome) || outcome.head === null || !error) return outcome;
      return {
        ...outcome,
        clockErrorMs: Math.round(error.errorMs),
        clockErrorWithinMs: Math.ceil(error.withinMs + 0.5),
      };
    },
  });
}

/** The certificate that a component's server presented when a connection to it was last opened. */
interface SeenCertificate {
  venue: string;
  component: string;
  expiresAt: Date;
}

export interface SeenCertificates {
  see(sample: Pick<Sample, "venue" | "component" | "certificateExpiresAt">): void;
  all(): SeenCertificate[];
}

/**
 * Connections are opened far more often than this. If a component had none for so long, another process measures it
 * now.
 */
const keepMs = 25 * 60 * 60_000;

export function makeSeenCertificates(now: () => number = () => performance.now()): SeenCertificates {
  const seen = new Map<string, SeenCertificate & { atMs: number }>();
  return {
    see({ venue, component, certificateExpiresAt: expiresAt }) {
      if (expiresAt)
        seen.set(`${venue} ${component}`, {
          venue,
          component,
          expiresAt,
          atMs: now(),
        });
    },
    all() {
      for (const [key, { atMs }] of seen) if (now() - atMs > keepMs) seen.delete(key);
      return [...seen.values()];
    },
  };
}
