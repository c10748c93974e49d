import type { Log } from "../server/log.js";
import { componentsOf, type Socket, type Venue } from "../server/registry.js";
import { unlessOurNetwork } from "./cause.js";
import type { ClockWatch } from "./clock-error.js";
import { makeFeed, type Feed, type Trouble } from "./feed.js";
import { startLine, type Line } from "./line.js";
import {
  isUnmeasured,
  nothingMeasured,
  type Measurement,
  type Outcome,
} from "./measurement.js";
import type { Resolver } from "./resolver.js";
import type { Task } from "./schedule.js";

export interface StreamsOptions {
  venue: Venue;
  socket: Socket;
  /** How long after the start the first connection is opened. */
  openAfterMs: number;
  userAgent: string;
  resolver: Resolver;
  /** PEM: the authorities to trust; those of Node when not given. */
  ca?: string;
  log: Log;
  /** How wrong our own clock is known to be. */
  clock: Pick<ClockWatch, "read">;
}

export interface Streams {
  /** One for `ws:conn`, one for each stream. Their slots end at the scheduled instant. */
  tasks: Task[];
  socketsOpen: () => number;
  close(): void;
}

/** Connects to a venue: one socket, or one for each address that its streams need. */
export function startStreams(options: StreamsOptions): Streams {
  const { venue, socket, clock, resolver } = options;
  const feeds = socket.streams.map(makeFeed);
  const lines = openLines(options, feeds);
  const cadences = new Map(
    componentsOf(venue).map(({ id, cadenceMs }) => [id, cadenceMs]),
  );

  const opening = makeOpening();

  function task(
    name: string,
    measure: (
      cadenceMs: number,
      signal: AbortSignal,
    ) => Outcome | Promise<Outcome>,
  ): Task {
    const component = `ws:${name}`;
    const cadenceMs = cadences.get(component)!;
    return {
      venue: venue.id,
      component,
      cadenceMs,
      measure: (_slotAt, signal) => measure(cadenceMs, signal),
    };
  }

  return {
    tasks: [
      task("conn", (cadenceMs) => measuredSocket(lines, cadenceMs, opening)),
      ...feeds.map((feed) =>
        task(feed.stream.name, (cadenceMs, signal) => {
          const outcome = measuredStream(feed, cadenceMs, clock);
          const isSaid = feed.trouble?.kind === "refused";
          if (isSaid || !isSilent(outcome)) return outcome;
          const { hostname } = new URL(feed.stream.url ?? socket.url);
          const { quietMs } = outcome;
          const sinceMs = performance.now() - cadenceMs - (quietMs ?? 0);
          const unanswered = { host: hostname, sinceMs, signal };
          return unlessOurNetwork(outcome, unanswered, resolver);
        }),
      ),
    ],
    socketsOpen: () => lines.filter((line) => line.opened()).length,
    close() {
      for (const line of lines) line.close();
    },
  };
}

function openLines(
  { socket, openAfterMs, userAgent, resolver, ca, log }: StreamsOptions,
  feeds: readonly Feed[],
): Line[] {
  const { keepAlive, maxConnectionMs } = socket;
  const urlOf = ({ stream }: Feed) => stream.url ?? socket.url;
  const urls = [...new Set(feeds.map(urlOf))];
  return urls.map((url) =>
    startLine({
      url,
      keepAlive,
      maxConnectionMs,
      openAfterMs,
      feeds: feeds.filter((feed) => urlOf(feed) === url),
      userAgent,
      resolver,
      ...(ca !== undefined && { ca }),
      log,
    }),
  );
}

/** The socket is as it stands at the end of the slot; with two, as the worse of them. */
function measuredSocket(
  lines: readonly Line[],
  slotMs: number,
  opening: ReturnType<typeof makeOpening>,
): Outcome {
  const causes = lines.flatMap((line) => line.down() ?? []);
  const bad = causes.find((cause) => !isUnmeasured(cause));
  if (bad) return { ...nothingMeasured, ...bad };
  const ours = causes.find(isUnmeasured);
  if (ours) return ours;
  if (lines.some((line) => !line.opened())) return { unmeasured: "starting" };
  return { ...nothingMeasured, ...opening(lines, slotMs), good: true };
}

/**
 * Time to open, for a socket that opened within the slot. Slots are read at no exact distance, so it is one that opened since the
 * reading before: none is told twice, or by neither of two.
 */
function makeOpening() {
  let readAtMs = -Infinity;
  return (lines: readonly Line[], slotMs: number): Partial<Measurement> => {
    const nowMs = performance.now();
    const isNext = nowMs - readAtMs < 1.5 * slotMs;
    const sinceMs = isNext ? readAtMs : nowMs - slotMs;
    readAtMs = nowMs;
    const [slowest] = lines
      .flatMap((line) => line.opened() ?? [])
      .filter(({ atMs }) => atMs > sinceMs)
      .sort((a, b) => b.latencyUs - a.latencyUs);
    if (!slowest) return {};
    const { connection, latencyUs } = slowest;
    const { dnsUs, connectUs, tlsUs, certificateExpiresAt } = connection;
    return { latencyUs, dnsUs, connectUs, tlsUs, certificateExpiresAt };
  };
}

/** What may have come from our own silence. */
function isSilent(outcome: Outcome): outcome is Measurement {
  return !isUnmeasured(outcome) && outcome.fault !== null;
}

/** While its socket is down a stream has no evidence: that fault stands on `ws:conn` alone. */
function measuredStream(
  feed: Feed,
  slotMs: number,
  clock: Pick<ClockWatch, "read">,
): Outcome {
  const { meter, sequence, stream, trouble } = feed;
  const nowMs = performance.now();
  const reading = meter.read(nowMs, slotMs);
  if (trouble) return { ...unserved(trouble, nowMs), fault: "handshake" };
  if (!reading) return { unmeasured: "subscribing" };
  const { messages, quietMs, eventAgeMs, gaps } = reading;
  const measured: Measurement = {
    ...nothingMeasured,
    messages,
    quietMs,
    eventAgeMs: correctedAge(eventAgeMs, clock),
    sequenceGaps: sequence && gaps,
  };
  if (quietMs > stream.stall.afterMs) return { ...measured, fault: "stall" };
  return { ...measured, good: true };
}

/** Nothing came, ever since it was asked for. */
function unserved({ askedMs }: Trouble, nowMs: number): Measurement {
  return {
    ...nothingMeasured,
    messages: 0,
    quietMs: Math.round(nowMs - askedMs),
  };
}

/**
 * Events are as old as they would be by a clock that goes right. One that may be
 * right, for all that is known, is believed: the middle of wide bounds says less.
 */
export function correctedAge(
  ageMs: number | null,
  clock: Pick<ClockWatch, "read">,
): number | null {
  if (ageMs === null) return null;
  const { errorMs, withinMs } = clock.read() ?? { errorMs: 0, withinMs: 0 };
  return Math.round(Math.abs(errorMs) > withinMs ? ageMs - errorMs : ageMs);
}
