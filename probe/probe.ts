import type { Log } from "../server/log.js";
import type { Registry, Venue } from "../server/registry.js";
import { systemClock, type Clock } from "./clock.js";
import { startLoopWatch, type LoopWatch } from "./loop-watch.js";
import { makeResolver, type Resolver } from "./resolver.js";
import { makeRest, type Rest } from "./rest.js";
import { startSchedule, type Task } from "./schedule.js";
import { startShip, type RecordSamples, type ShipStatus } from "./ship.js";
import type { Spool } from "./spool.js";
import { startStreams, type Streams } from "./stream.js";
import { startTally, type TallyStatus } from "./tally.js";

export interface ProbeOptions {
  registry: Registry;
  /** Id of the region that this probe stands in. */
  region: string;
  version: string;
  siteUrl: string;
  /** What was measured waits there. It is closed with the probe. */
  spool: Spool;
  record: RecordSamples;
  log: Log;
  clock?: Clock;
  /** The turn of a slot has come, so long after its scheduled instant. */
  onTurn?: (lateMs: number) => void;
}

export interface ProbeStatus extends TallyStatus, ShipStatus {
  socketsOpen: number;
}

export interface Probe {
  status(): ProbeStatus;
  /** Stops measuring, then delivers what waits, within two and a half seconds: a supervisor gives it three. */
  close: () => Promise<void>;
}

/** Fifteen handshakes at one instant would disturb each other's measurement. */
const betweenVenuesMs = 200;

/** Measures every component of the registry from one region. No fault of a venue or of the database ends it. */
export function startProbe(options: ProbeOptions): Promise<Probe> {
  const { registry, region, version, siteUrl, spool, record, log } = options;
  const userAgent = `venuewatch/${version} (+${siteUrl}; region=${region})`;
  const resolver = makeResolver(registry.venues.flatMap(hostsOf));
  const tally = startTally(log);
  const ship = startShip({ spool, record, log });
  const watch = startLoopWatch();
  const rest = makeRest({ userAgent, resolver });
  const streams = openStreams(registry, { userAgent, resolver, log });
  const schedule = startSchedule({
    region,
    tasks: [
      ...registry.venues.flatMap((venue) => restTasks(venue, rest, watch)),
      ...streams.flatMap(({ tasks }) => tasks.map(slotWatched(watch))),
    ],
    clock: options.clock ?? systemClock,
    log,
    onSample(sample) {
      tally.taken(sample.slotAt);
      ship.add(sample);
    },
    onUnmeasured: tally.unmeasured,
    ...(options.onTurn && { onTurn: options.onTurn }),
  });

  async function close() {
    await schedule.close();
    for (const venueStreams of streams) venueStreams.close();
    await rest.close();
    watch.close();
    await ship.close();
    tally.close();
  }

  return Promise.resolve({
    status: () => ({
      ...tally.status(),
      ...ship.status(),
      socketsOpen: streams.reduce(
        (sum, { socketsOpen }) => sum + socketsOpen(),
        0,
      ),
    }),
    close,
  });
}

function hostsOf({ rest, socket }: Venue): string[] {
  const urls = [
    ...rest.map(({ url }) => url),
    ...(socket ? [socket.url] : []),
    ...(socket?.streams.flatMap(({ url }) => url ?? []) ?? []),
  ];
  return urls.map((url) => new URL(url).hostname);
}

function openStreams(
  { venues }: Registry,
  shared: { userAgent: string; resolver: Resolver; log: Log },
): Streams[] {
  return venues.flatMap((venue, place) => {
    const openAfterMs = place * betweenVenuesMs;
    return venue.socket
      ? startStreams({ ...shared, venue, socket: venue.socket, openAfterMs })
      : [];
  });
}

function restTasks(venue: Venue, rest: Rest, watch: LoopWatch): Task[] {
  return venue.rest.map((endpoint) => {
    const measure = rest.endpoint(endpoint);
    return {
      venue: venue.id,
      component: `rest:${endpoint.name}`,
      cadenceMs: endpoint.cadenceMs,
      async measure(_slotAt, signal) {
        const begunMs = performance.now();
        const outcome = await measure(signal);
        return watch.stoodStillSince(begunMs)
          ? { unmeasured: "starved" }
          : outcome;
      },
    };
  });
}

/** The slot of a stream lies before its scheduled instant, and so may a standstill of ours that made its silence. */
function slotWatched(watch: LoopWatch) {
  return (task: Task): Task => ({
    ...task,
    async measure(slotAt, signal) {
      const outcome = await task.measure(slotAt, signal);
      return watch.stoodStillSince(performance.now() - task.cadenceMs)
        ? { unmeasured: "starved" }
        : outcome;
    },
  });
}
