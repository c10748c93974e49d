import type { Log } from "../../../shared/log/log.js";
import type { UnmeasuredReason } from "../../../shared/measurement/sample.js";
import { type EventLoopWatch, tolerableMs } from "../../../shared/process/event-loop-watch.js";
import { componentsOf } from "../../../shared/registry/components.js";
import { headersAt } from "../../../shared/registry/credentials.js";
import { type SocketConfig, stallBasis, type Venue } from "../../../shared/registry/registry.js";
import type { Resolver } from "../../network/resolver.js";
import type { Task } from "../../schedule/schedule.js";
import { unlessOurNetwork } from "../causes.js";
import type { ClockWatch } from "../clock-error.js";
import type { Counterpart } from "../counterpart.js";
import {
  isUnmeasured,
  makeVerdictLog,
  type Measurement,
  type MeasurementOutcome,
  nothingMeasured,
  unservedBy,
} from "../measurement.js";
import { correctedAge } from "../rest/checks.js";
import type { Meter, StreamMeasurement } from "./meter.js";
import { type ReconnectingSocket, startReconnectingSocket } from "./reconnecting-socket.js";
import { type StreamFault, makeStreamVerdict, type StreamVerdict } from "./stream-verdict.js";
import { makeSubscription, type Subscription, type SubscriptionError } from "./subscription.js";

export interface StreamsOptions {
  venue: Venue;
  socket: SocketConfig;
  /** Delay of the first connection. */
  openAfterMs: number;
  userAgent: string;
  resolver: Resolver;
  /** Trusted authorities, as PEM; default: those of Node. */
  ca?: string;
  log: Log;
  /** The known error of our clock. */
  clock: Pick<ClockWatch, "read">;
  /** Detects standstills of this process. */
  watch: Pick<EventLoopWatch, "stalledSince">;
  /** The venue's REST endpoints that streams are compared with, by name. */
  counterparts?: ReadonlyMap<string, Counterpart>;
  /** For streams without a counterpart: the other providers of the venue's chain. Null if it has none. */
  chain?: Pick<Counterpart, "cadenceMs" | "wentOn"> | null;
}

export interface Streams {
  /**
   * One for `ws:conn`, one for each stream. Their slots end at the scheduled instant: if samples were named after the
   * beginning of their slots, they would reach the engine a slot later than those of REST.
   */
  tasks: Task[];
  socketsOpen: () => number;
  close(): void;
}

/** Connects to a venue, by one socket for each address that its streams need. */
export function startStreams(options: StreamsOptions): Streams {
  const { venue, socket, resolver } = options;
  const subscriptions = socket.streams.map(makeSubscription);
  const connectionOf = openConnections(options, subscriptions);
  const connections = [...new Set(connectionOf.values())];
  const logHalt = makeVerdictLog(options.log, { venue: venue.id, component: "ws:conn" });
  const cadences = new Map(componentsOf(venue).map(({ id, cadenceMs }) => [id, cadenceMs]));

  const opening = makeOpening();

  function task(
    name: string,
    measure: (cadenceMs: number, signal: AbortSignal) => MeasurementOutcome | Promise<MeasurementOutcome>,
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
      task("conn", (cadenceMs) => {
        const outcome = measuredSocket(connections, cadenceMs, opening);
        if (!isUnmeasured(outcome)) logHalt(outcome.fault, {});
        return outcome;
      }),
      ...subscriptions.map((subscription) => {
        const measured = makeStreamMeasure(subscription, options);
        return task(subscription.stream.name, (cadenceMs, signal) => {
          const outcome = measured(cadenceMs);
          if (!mayBeOurSilence(outcome, subscription)) return outcome;
          const { hostname } = new URL(connectionOf.get(subscription)!.url());
          const { quietMs } = outcome;
          const sinceMs = performance.now() - cadenceMs - (quietMs ?? 0);
          const unanswered = { host: hostname, sinceMs, signal };
          return unlessOurNetwork(outcome, unanswered, resolver);
        });
      }),
    ],
    socketsOpen: () => connections.filter((connection) => connection.opened()).length,
    close() {
      for (const connection of connections) connection.close();
    },
  };
}

function openConnections(
  { socket, openAfterMs, userAgent, resolver, ca, log }: StreamsOptions,
  subscriptions: readonly Subscription[],
): ReadonlyMap<Subscription, ReconnectingSocket> {
  const { welcome, blocked, limited, halted, compression, keepAlive, maxConnectionMs } = socket;
  const urlOf = ({ stream }: Subscription) => stream.url ?? socket.url;
  const urls = [...new Set(subscriptions.map(urlOf))];
  const opened = urls.map((url) => {
    const served = subscriptions.filter((subscription) => urlOf(subscription) === url);
    const connection = startReconnectingSocket({
      ...{ url, welcome, blocked, limited, halted, compression, keepAlive, maxConnectionMs, openAfterMs },
      alternatives: url === socket.url ? socket.alternatives : [],
      headersAt: (address) => headersAt(address, socket),
      subscriptions: served,
      ...{ userAgent, resolver, log },
      ...(ca !== undefined && { ca }),
    });
    return served.map((subscription) => [subscription, connection] as const);
  });
  return new Map(opened.flat());
}

/** The state of the socket at the end of the slot; with two sockets, of the worse one. */
function measuredSocket(
  connections: readonly ReconnectingSocket[],
  slotMs: number,
  opening: ReturnType<typeof makeOpening>,
): MeasurementOutcome {
  const causes = connections.flatMap((connection) => connection.down() ?? []);
  const bad = causes.find((cause) => !isUnmeasured(cause));
  if (bad) return { ...nothingMeasured, ...bad };
  if (connections.some((connection) => connection.isHalted())) return { ...nothingMeasured, fault: "halted" };
  const ours = causes.find(isUnmeasured);
  if (ours) return ours;
  if (connections.some((connection) => !connection.opened())) return { unmeasured: "starting" };
  return { ...nothingMeasured, ...opening(connections, slotMs), good: true };
}

/**
 * The time to open, for a socket that opened within the slot. Slots are not read at exact intervals. So a socket counts
 * if it opened since the previous reading, and each opening is reported exactly once.
 */
function makeOpening() {
  let readAtMs = -Infinity;
  return (connections: readonly ReconnectingSocket[], slotMs: number): Partial<Measurement> => {
    const nowMs = performance.now();
    const isNext = nowMs - readAtMs < 1.5 * slotMs;
    const sinceMs = isNext ? readAtMs : nowMs - slotMs;
    readAtMs = nowMs;
    const [slowest] = connections
      .flatMap((connection) => connection.opened() ?? [])
      .filter(({ atMs }) => atMs > sinceMs)
      .sort((a, b) => b.latencyUs - a.latencyUs);
    if (!slowest) return {};
    const { connection, latencyUs } = slowest;
    const { dnsUs, connectUs, tlsUs, certificateExpiresAt } = connection;
    return { latencyUs, dnsUs, connectUs, tlsUs, certificateExpiresAt };
  };
}

/** The stream is silent without a refusal of the venue. (The cause of a closed socket was checked when it closed.) */
function mayBeOurSilence(outcome: MeasurementOutcome, { trouble }: Subscription): outcome is Measurement {
  if (isUnmeasured(outcome) || outcome.unserved) return false;
  const isSilent = outcome.fault === "stall" || outcome.fault === "handshake";
  return isSilent && trouble?.kind !== "refused";
}

function makeStreamMeasure(
  subscription: Subscription,
  { venue, clock, watch, counterparts, chain = null, log }: StreamsOptions,
): (slotMs: number) => MeasurementOutcome {
  const { stream } = subscription;
  const { counterpart = "" } = stream;
  // a new block is no proof of something that only an estimate expects
  const ofChain = stallBasis(stream) === "estimate" ? null : chain;
  const verdict = makeStreamVerdict(stream, counterparts?.get(counterpart) ?? ofChain, () => clock.read());
  const readSlot = makeReadSlot(subscription.meter, verdict, watch);
  const component = `ws:${stream.name}`;
  const logVerdict = makeVerdictLog(log, { venue: venue.id, component });

  return (slotMs) => {
    const outcome = measuredStream(subscription, slotMs, clock, readSlot);
    if (!isUnmeasured(outcome) && !outcome.unserved) {
      const { fault, quietMs, eventAgeMs } = outcome;
      logVerdict(fault, { quietMs, eventAgeMs });
    }
    return outcome;
  };
}

function measuredStream(
  subscription: Subscription,
  slotMs: number,
  clock: Pick<ClockWatch, "read">,
  readSlot: ReadSlot,
): MeasurementOutcome {
  const { sequence, trouble } = subscription;
  const nowMs = performance.now();
  const slot = readSlot(nowMs, slotMs);
  if (trouble) return { ...silentSince(trouble, nowMs), fault: "handshake" };
  if (!slot) return unheardOutcome(subscription);
  subscription.fall = null;
  const { fault } = slot;
  const { messages, quietMs, ages, gaps } = slot.reading;
  return {
    ...nothingMeasured,
    good: fault === null,
    fault,
    messages,
    quietMs,
    eventAgeMs: ages.ageMs === null ? null : correctedAge(ages.ageMs, clock.read()),
    sequenceGaps: sequence && gaps,
  };
}

/**
 * The stream was not received during the whole slot. That is the venue's fault if it brought the socket down in this
 * slot, or before and the stream is not back yet. If it limits or blocks us, only the slot in which it refused the
 * socket is its doing: then we wait by our own choice.
 */
function unheardOutcome(subscription: Subscription): MeasurementOutcome {
  const { fall, isPaused } = subscription;
  if (!fall) return { unmeasured: "subscribing" };
  if (isUnmeasured(fall)) return lastingReasons.has(fall.unmeasured) ? fall : { unmeasured: "subscribing" };
  if (isPaused) subscription.fall = { unmeasured: "paused" };
  return unservedBy(fall.fault);
}

/** Reasons that hold until the stream is received again. */
const lastingReasons: ReadonlySet<UnmeasuredReason> = new Set(["paused", "provider"]);

/** The stream has sent nothing since it was first subscribed to. */
function silentSince({ askedMs, words }: SubscriptionError, nowMs: number): Measurement {
  return {
    ...nothingMeasured,
    refusal: words,
    messages: 0,
    quietMs: Math.round(nowMs - askedMs),
  };
}

export interface StreamSlot {
  reading: StreamMeasurement;
  fault: StreamFault | null;
}

/** Ends a slot of a stream. Null if the stream was not received during the whole slot. */
type ReadSlot = (nowMs: number, slotMs: number) => StreamSlot | null;

/** Reads and judges the slots of one stream, one after the other. */
export function makeReadSlot(
  meter: Meter,
  verdict: StreamVerdict,
  watch: Pick<EventLoopWatch, "stalledSince">,
): ReadSlot {
  let readMs = -Infinity;

  return (nowMs, slotMs) => {
    const stalled = watch.stalledSince(readMs, tolerableMs.memory);
    readMs = nowMs;
    const reading = meter.read(nowMs, slotMs);
    if (!reading) return null;
    if (stalled) {
      // Frames of that time are read all at once, in part, or were lost with the machine's network: the stream starts
      // as a new subscription.
      meter.subscribed(nowMs);
      return null;
    }
    verdict.follow(reading, nowMs);
    return reading.isWhole ? { reading, fault: verdict.judge(reading, nowMs) } : null;
  };
}
