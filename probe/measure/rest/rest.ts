import { maxBodyBytes } from "../../../shared/http/limits.js";
import { retryAfterMs } from "../../../shared/http/retry-after.js";
import type { Fault } from "../../../shared/measurement/sample.js";
import { headersAt } from "../../../shared/registry/credentials.js";
import type { RestEndpoint } from "../../../shared/registry/registry.js";
import type { Resolver } from "../../network/resolver.js";
import { type Cause, causeOf, causeOfRefusal, unlessOurNetwork, type VenueFault } from "../causes.js";
import { type ClockWatch, stampOf } from "../clock-error.js";
import { isUnmeasured, type Measurement, type MeasurementOutcome, nothingMeasured } from "../measurement.js";
import { type AddressPauses, makePauses, type Pauses } from "../pauses.js";
import type { AgeVerdict } from "./age-verdict.js";
import { type AnswerCheck, compileAnswerCheck } from "./checks.js";
import { type Lane, makeLane, type RestExchange, type RestRequest } from "./lane.js";

export interface RestOptions {
  userAgent: string;
  resolver: Resolver;
  /** Receives the Date headers of answers, to check this machine's clock. */
  clock?: Pick<ClockWatch, "answered">;
  /** Trusted authorities, as PEM; default: those of Node. */
  ca?: string;
  /**
   * The pauses of origins that limit or block our requests. Absent: an answer of one endpoint pauses no other, for
   * measurements that are made once.
   */
  pauses?: Pauses;
}

export interface Rest {
  /**
   * Prepares the measurement of one endpoint: one attempt at each of its addresses until one answers well, and no
   * redirects. The measurement never rejects.
   *
   * @param verdict judges the age of its data; absent: any age is good
   * @param check judges its answers; default: by the entry
   */
  endpoint(endpoint: RestEndpoint, verdict?: AgeVerdict, check?: AnswerCheck): Measure;
  close(): Promise<void>;
}

/** @param fresh whether to open a new connection even if there is an idle one */
export type Measure = (signal: AbortSignal, fresh?: boolean) => Promise<MeasurementOutcome>;

/** Everything needed to ask one address, prepared once. */
interface Plan {
  origin: string;
  /** Without a port. */
  hostname: string;
  /** With its port, if the address has one. */
  host: string;
  request: RestRequest;
  judgement: Judgement;
}

/** Measures REST endpoints over kept-alive connections, which the endpoints of an origin share. */
export function makeRest({ userAgent, resolver, clock, ca, pauses }: RestOptions): Rest {
  const way = { lookup: resolver.lookup, ...(ca !== undefined && { ca }) };
  const lanes = new Set<Lane>();
  const idleLanes = new Map<string, Lane[]>();

  async function exchanged(plan: Plan, { signal, fresh, timeoutMs }: Request): Promise<RestExchange> {
    const { origin, hostname } = plan;
    const idle = idleOf(origin);
    const replaces = fresh && idle.length > 0;
    const lane = (fresh ? undefined : idle.pop()) ?? openLane(plan);
    resolver.asked(hostname);
    const exchange = await lane.exchange(plan.request, { timeoutMs, maxBodyBytes: maxBodyBytes.measured }, signal);
    if (clock) compareClock(clock, origin, exchange);
    if (exchange.failure) await dropLane(lane);
    else {
      idle.push(lane);
      // The new connection replaces the oldest one: so connections follow a name whose address has changed.
      if (replaces && idle.length > 1) await dropLane(idle.shift()!);
    }
    return exchange;
  }

  function idleOf(origin: string): Lane[] {
    const known = idleLanes.get(origin);
    if (known) return known;
    const none: Lane[] = [];
    idleLanes.set(origin, none);
    return none;
  }

  function openLane({ origin, hostname }: Plan): Lane {
    const lane = makeLane(origin, way, (sentMs) => resolver.answered(hostname, sentMs));
    lanes.add(lane);
    return lane;
  }

  async function dropLane(lane: Lane) {
    lanes.delete(lane);
    await lane.close();
  }

  /** After this, each slot opens a new connection, as a new client does, until one succeeds. */
  async function dropIdle(origin: string) {
    await Promise.all(idleOf(origin).splice(0).map(dropLane));
  }

  async function outcomeOf(exchange: RestExchange, plan: Plan, request: Request): Promise<MeasurementOutcome> {
    if (!exchange.failure) return measurementOf(exchange, plan.judgement, plan.host);
    const cause = causeOfFailure(exchange, plan.judgement.expectStatus);
    const cleared = request.isLast ? await clearedCause(cause, exchange, plan, request.signal) : cause;
    return isUnmeasured(cleared) ? cleared : failedMeasurement(exchange, cleared);
  }

  /** Checks whether a failure may be probe trouble. */
  async function clearedCause(
    cause: Cause,
    { startMs, failure }: RestExchange,
    { hostname: host }: Plan,
    signal: AbortSignal,
  ): Promise<Cause> {
    if (isUnmeasured(cause) || !mayBeOurs.has(cause.fault)) return cause;
    if (cause.fault === "dns")
      return (await resolver.othersResolve(host, startMs)) ? cause : { unmeasured: "resolver" };
    const error = failure?.kind === "error" ? failure.error : undefined;
    const unanswered = { host, sinceMs: startMs, error, signal };
    return unlessOurNetwork(cause, unanswered, resolver);
  }

  function addressOf(plan: Plan): Address {
    const { origin } = plan;
    const { skipped, answered } = (pauses ?? makePauses()).of(origin);
    // After a stale connection this address opens new ones until one is good. Otherwise it could reuse an idle
    // connection of another address of the origin, which may be stale again.
    let wantsFresh = false;

    return {
      skipped,
      async ask(request) {
        const exchange = await exchanged(plan, { ...request, fresh: request.fresh || wantsFresh });
        const outcome = await outcomeOf(exchange, plan, request);
        if (isUnmeasured(outcome)) {
          wantsFresh ||= outcome.unmeasured === "stale";
          return outcome;
        }
        if (outcome.good || outcome.fault === "stale") wantsFresh = false;
        if (isClosedToNewcomers(exchange)) await dropIdle(origin);
        answered(limitOf(exchange) ?? outcome.fault, retryAfterMs(exchange.headers["retry-after"], Date.now()));
        return outcome;
      },
    };
  }

  return {
    endpoint(endpoint, verdict, check = compileAnswerCheck(endpoint)) {
      const { url, alternatives = [], expectStatus, timeoutMs } = endpoint;
      const judgement = { expectStatus, check, verdict: verdict ?? null };
      const addresses = [url, ...alternatives].map((one) => addressOf(planOf(one, endpoint, userAgent, judgement)));
      const [only] = addresses;
      if (alternatives.length === 0)
        return async (signal, fresh = false) =>
          only!.skipped() ?? only!.ask({ signal, fresh, timeoutMs, isLast: true });
      return (signal, fresh = false) => askedInTurn(addresses, timeoutMs, signal, fresh);
    },
    async close() {
      await Promise.all([...lanes].map(dropLane));
    },
  };
}

function planOf(url: string, endpoint: RestEndpoint, userAgent: string, judgement: Judgement): Plan {
  const { origin, host, hostname, pathname, search } = new URL(url);
  const body = endpoint.body === undefined ? null : JSON.stringify(endpoint.body);
  const headers = {
    ...headersAt(url, endpoint),
    "user-agent": userAgent,
    accept: "application/json",
    "accept-encoding": "identity",
    ...(body !== null && { "content-type": "application/json" }),
  };
  return {
    ...{ origin, host, hostname, judgement },
    request: { method: endpoint.method, path: pathname + search, headers, body },
  };
}

/** Faults that probe trouble may have caused; all others are based on an answer of the venue. */
const mayBeOurs: ReadonlySet<Fault> = new Set([...(["dns", "connect", "tls", "timeout", "closed"] as const)]);

/** Name resolution, connecting or the TLS handshake failed. Reusing an existing connection would hide that. */
function isClosedToNewcomers({ connection, failure }: RestExchange): boolean {
  return failure !== null && connection !== null && connection.phase !== "exchange";
}

/** A status that asks us to wait is heeded whatever else the answer says, and even if its body did not arrive. */
function limitOf({ status }: RestExchange): Fault | null {
  const refusal = status === null ? null : causeOfRefusal(status);
  return refusal?.fault === "limited" ? refusal.fault : null;
}

/** Converts both instants to wall time by the clocks' present offset. */
function compareClock(
  clock: Pick<ClockWatch, "answered">,
  origin: string,
  { sentMs, firstByteMs, headers }: RestExchange,
): void {
  if (sentMs === null || firstByteMs === null) return;
  const { date, age } = headers;
  const partMs = Date.now() - performance.now();
  clock.answered(origin, date?.toString(), age?.toString(), partMs + sentMs, partMs + firstByteMs);
}

// What an exchange says about the venue.

/** Kept short: a server may also end connections on purpose, at once, and this tolerance hides some of these faults. */
const noticedWithinMs = 50;

/** How the answers of an endpoint are judged. */
interface Judgement {
  expectStatus: RestEndpoint["expectStatus"];
  check: AnswerCheck;
  /** Judges the age of its data; null: any age is good. */
  verdict: AgeVerdict | null;
}

/**
 * The measurement of a whole answer. What the venue says in it counts first, whatever its status; then the status, then
 * the proof.
 *
 * @param provider the host that answered
 */
function measurementOf(exchange: RestExchange, judgement: Judgement, provider: string): Measurement {
  const { body, headers, sentMs, endedMs } = exchange;
  const { check, verdict, expectStatus } = judgement;
  const timed = { ...nothingMeasured, ...timesOf(exchange) };
  const checked = check(body.bytes(), headers["content-encoding"]);
  const { said, good, head } = checked;
  if (said !== null) return { ...timed, fault: said };
  const cause = causeOfStatus(exchange, expectStatus);
  if (cause) return { ...timed, ...cause };
  if (!good) return { ...timed, fault: "body" };
  if (!verdict || sentMs === null || endedMs === null) return { ...timed, good, head };
  const serverMs = stampOf(headers.date?.toString());
  const { eventAgeMs, staleMs } = verdict({ ...checked, provider, askedMs: sentMs, endedMs, serverMs });
  const isStale = staleMs !== null;
  return { ...timed, good: !isStale, fault: isStale ? "stale" : null, head, eventAgeMs };
}

/** The measurement of an exchange that failed through a fault of the venue. */
function failedMeasurement(exchange: RestExchange, fault: VenueFault): Measurement {
  return { ...nothingMeasured, ...timesOf(exchange), ...fault };
}

function causeOfFailure(exchange: RestExchange, expectStatus: number): Cause {
  const { failure, connection } = exchange;
  const phase = connection?.phase ?? "exchange";
  // A refusal counts as one even if its body is unreadable.
  const orStatus = (cause: Cause) =>
    "fault" in cause && cause.fault === "body" ? (causeOfStatus(exchange, expectStatus) ?? cause) : cause;
  switch (failure?.kind) {
    case "deadline":
      // Our own resolver may hang as well as fail, so its timeout is checked like other DNS faults.
      return { fault: phase === "dns" ? "dns" : "timeout" };
    case "oversize":
      return orStatus({ fault: "body" });
    case "error":
      if (isStale(exchange)) return { unmeasured: "stale" };
      return orStatus(causeOf(failure.error, phase));
    default:
      throw new Error("causeOfFailure expects an exchange that failed");
  }
}

function causeOfStatus({ status }: RestExchange, expectStatus: number): VenueFault | null {
  if (status === null || status === expectStatus) return null;
  return causeOfRefusal(status) ?? { fault: "http" };
}

/**
 * A server may close a kept-alive connection just as it is used again. A failure within a round trip was sent before
 * the server saw the request, and says nothing about the venue. A busy machine notices it later. The next slot uses a
 * new connection, so that a real fault shows there.
 */
function isStale(exchange: RestExchange): boolean {
  const { connection, sentMs, firstByteMs, failedMs, roundTripMs } = exchange;
  if (connection || firstByteMs !== null || failedMs === null) return false;
  return sentMs === null || failedMs - sentMs <= 2 * roundTripMs + noticedWithinMs;
}

function timesOf(exchange: RestExchange): Partial<Measurement> {
  const { connection, sentMs, firstByteMs, endedMs, status } = exchange;
  return {
    dnsUs: connection?.dnsUs ?? null,
    connectUs: connection?.connectUs ?? null,
    tlsUs: connection?.tlsUs ?? null,
    firstByteUs: microsecondsBetween(sentMs, firstByteMs),
    latencyUs: microsecondsBetween(sentMs, endedMs),
    fresh: connection !== null,
    certificateExpiresAt: connection?.certificateExpiresAt ?? null,
    httpStatus: status,
  };
}

function microsecondsBetween(fromMs: number | null, toMs: number | null): number | null {
  return fromMs === null || toMs === null ? null : Math.round((toMs - fromMs) * 1000);
}

// An endpoint with several addresses that give the same answer: nodes of third parties, through which a venue is read.

/** One of the addresses of an endpoint. */
interface Address extends Pick<AddressPauses, "skipped"> {
  ask(request: Request): Promise<MeasurementOutcome>;
}

interface Request {
  signal: AbortSignal;
  fresh: boolean;
  timeoutMs: number;
  /** No other address follows. Only then is a failure that may be our own examined, because that takes time. */
  isLast: boolean;
}

/** The node answers, and its answer is about the venue. */
const ofVenue: ReadonlySet<Fault | null> = new Set<Fault | null>(["stale", "halted"]);

/**
 * Asks one address after the other until one answers well. Each has its share of the time that is left, so that a node
 * that hangs leaves some for the next.
 */
async function askedInTurn(
  addresses: readonly Address[],
  timeoutMs: number,
  signal: AbortSignal,
  fresh: boolean,
): Promise<MeasurementOutcome> {
  const endMs = performance.now() + timeoutMs;
  const open = addresses.filter((address) => address.skipped() === null);
  const outcomes: MeasurementOutcome[] = [];
  for (const [place, address] of open.entries()) {
    const shareMs = Math.max(1, (endMs - performance.now()) / (open.length - place));
    const answer = await address.ask({ signal, fresh, timeoutMs: shareMs, isLast: place === open.length - 1 });
    const outcome = address === addresses[0] ? answer : withoutLatency(answer);
    if (isGood(outcome) || signal.aborted) return outcome;
    outcomes.push(outcome);
  }
  return unlessProvider(outcomes);
}

/**
 * The outcome if no address answered well. Nodes that fail say nothing about the venue. A single node may itself be
 * behind, but the venue has a fault if all of them say so.
 */
function unlessProvider(outcomes: readonly MeasurementOutcome[]): MeasurementOutcome {
  const [first] = outcomes;
  if (first && outcomes.length > 1 && outcomes.every(isOfVenue)) return first;
  const last = outcomes.at(-1);
  const isOurs = last && isUnmeasured(last) && last.unmeasured !== "stale";
  return isOurs ? last : { unmeasured: "provider" };
}

/** The engine compares a latency with the usual latency of the first address, and another node may always be slower. */
function withoutLatency(outcome: MeasurementOutcome): MeasurementOutcome {
  if (isUnmeasured(outcome)) return outcome;
  const { latencyUs, dnsUs, connectUs, tlsUs, firstByteUs } = nothingMeasured;
  return { ...outcome, latencyUs, dnsUs, connectUs, tlsUs, firstByteUs };
}

function isGood(outcome: MeasurementOutcome): boolean {
  return !isUnmeasured(outcome) && outcome.good;
}

function isOfVenue(outcome: MeasurementOutcome): boolean {
  return !isUnmeasured(outcome) && ofVenue.has(outcome.fault);
}
