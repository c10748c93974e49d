import type { RestEndpoint } from "../../shared/registry/registry.js";
import { retryAfterMs } from "../../shared/measurement/retry-after.js";
import type { Fault } from "../../shared/measurement/sample.js";
import type { AnswerVerdict } from "./answer-verdict.js";
import { causeOf, causeOfRefusal, unlessOurNetwork, type Cause } from "./failure-cause.js";
import { compileAnswerCheck, maxBodyBytes, type AnswerCheck } from "./checks.js";
import { stampOf, type ClockWatch } from "../network/clock-error.js";
import { makeLane, type RestExchange, type ExchangeLimits, type Lane, type RestRequest } from "./exchange.js";
import { isUnmeasured, nothingMeasured, unservedBy, type Measurement, type MeasurementOutcome } from "./measurement.js";
import { makeRateLimitBackoff } from "./rate-limit-backoff.js";
import type { Resolver } from "../network/resolver.js";

export interface RestOptions {
  userAgent: string;
  resolver: Resolver;
  /** Receives the Date headers of answers, to check this machine's clock. */
  clock?: Pick<ClockWatch, "answered">;
  /** Trusted authorities, as PEM; default: those of Node. */
  ca?: string;
}

export interface Rest {
  /**
   * Prepares the measurement of one endpoint: one attempt, no redirects. The measurement never rejects.
   *
   * @param verdict judges the age of its data; absent: any age is good
   */
  endpoint(endpoint: RestEndpoint, verdict?: AnswerVerdict): Measure;
  close(): Promise<void>;
}

/** @param fresh whether to open a new connection even if there is an idle one */
export type Measure = (signal: AbortSignal, fresh?: boolean) => Promise<MeasurementOutcome>;

/** Everything needed to measure one endpoint, prepared once. */
interface Plan {
  endpoint: RestEndpoint;
  origin: string;
  host: string;
  request: RestRequest;
  limits: ExchangeLimits;
  check: AnswerCheck;
  verdict: AnswerVerdict | null;
}

/** Measures REST endpoints over kept-alive connections, which the endpoints of an origin share. */
export function makeRest({ userAgent, resolver, clock, ca }: RestOptions): Rest {
  const way = { lookup: resolver.lookup, ...(ca !== undefined && { ca }) };
  const lanes = new Set<Lane>();
  const idleLanes = new Map<string, Lane[]>();
  const pauses = makeRateLimitBackoff();

  async function measure(plan: Plan, signal: AbortSignal, fresh: boolean): Promise<RestExchange> {
    const { origin, host } = plan;
    const idle = idleOf(origin);
    const replaces = fresh && idle.length > 0;
    const lane = (fresh ? undefined : idle.pop()) ?? openLane(plan);
    resolver.asked(host);
    const exchange = await lane.exchange(plan.request, plan.limits, signal);
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

  function openLane({ origin, host }: Plan): Lane {
    const lane = makeLane(origin, way, (sentMs) => resolver.answered(host, sentMs));
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

  async function outcomeOf(exchange: RestExchange, plan: Plan, signal: AbortSignal): Promise<MeasurementOutcome> {
    const cause = exchange.failure
      ? await cleared(causeOfFailure(exchange, plan), exchange, plan, signal)
      : causeOfStatus(exchange, plan.endpoint);
    if (cause && isUnmeasured(cause)) return cause;
    const timed = { ...nothingMeasured, ...timesOf(exchange) };
    return cause ? { ...timed, ...cause } : judged(timed, exchange, plan);
  }

  /** Checks whether a failure may be probe trouble. */
  async function cleared(
    cause: Cause,
    { startMs, failure }: RestExchange,
    { host }: Plan,
    signal: AbortSignal,
  ): Promise<Cause> {
    if (isUnmeasured(cause) || !mayBeOurs.has(cause.fault)) return cause;
    if (cause.fault === "dns")
      return (await resolver.othersResolve(host, startMs)) ? cause : { unmeasured: "resolver" };
    const error = failure?.kind === "error" ? failure.error : undefined;
    const unanswered = { host, sinceMs: startMs, error, signal };
    return unlessOurNetwork(cause, unanswered, resolver);
  }

  return {
    endpoint(endpoint, verdict) {
      const plan = planOf(endpoint, userAgent, verdict ?? null);
      const { origin } = plan;
      // After a stale connection this endpoint opens new ones until one is good. Otherwise it could reuse an idle
      // connection of another endpoint of the origin, which may be stale again.
      let wantsFresh = false;

      return async (signal, fresh = false) => {
        if (pauses.isPaused(origin)) return unservedBy("limited");
        const exchange = await measure(plan, signal, fresh || wantsFresh);
        const outcome = await outcomeOf(exchange, plan, signal);
        if (isUnmeasured(outcome)) {
          wantsFresh ||= outcome.unmeasured === "stale";
          return outcome;
        }
        const isServed = outcome.good || outcome.fault === "stale";
        if (isServed) wantsFresh = false;
        if (isClosedToNewcomers(exchange)) await dropIdle(origin);
        if (outcome.fault === "limited") pauses.limited(origin, askedPauseMs(exchange));
        if (isServed) pauses.served(origin);
        return outcome;
      };
    },
    async close() {
      await Promise.all([...lanes].map(dropLane));
    },
  };
}

function planOf(endpoint: RestEndpoint, userAgent: string, verdict: AnswerVerdict | null): Plan {
  const { origin, hostname, pathname, search } = new URL(endpoint.url);
  const body = endpoint.body === undefined ? null : JSON.stringify(endpoint.body);
  const headers = {
    "user-agent": userAgent,
    accept: "application/json",
    "accept-encoding": "identity",
    ...(body !== null && { "content-type": "application/json" }),
  };
  return {
    endpoint,
    origin,
    host: hostname,
    request: {
      method: endpoint.method,
      path: pathname + search,
      headers,
      body,
    },
    limits: { timeoutMs: endpoint.timeoutMs, maxBodyBytes },
    check: compileAnswerCheck(endpoint),
    verdict,
  };
}

/** Faults that probe trouble may have caused; all others are based on an answer of the venue. */
const mayBeOurs: ReadonlySet<Fault> = new Set([...(["dns", "connect", "tls", "timeout", "closed"] as const)]);

/** Name resolution, connecting or the TLS handshake failed. Reusing an existing connection would hide that. */
function isClosedToNewcomers({ connection, failure }: RestExchange): boolean {
  return failure !== null && connection !== null && connection.phase !== "exchange";
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

function causeOfStatus({ status }: RestExchange, { expectStatus }: RestEndpoint): Cause | null {
  if (status === null || status === expectStatus) return null;
  return causeOfRefusal(status) ?? { fault: "http" };
}

function causeOfFailure(exchange: RestExchange, { endpoint }: Plan): Cause {
  const { failure, connection } = exchange;
  const phase = connection?.phase ?? "exchange";
  // A refusal counts as one even if its body is unreadable.
  const orStatus = (cause: Cause) =>
    "fault" in cause && cause.fault === "body" ? (causeOfStatus(exchange, endpoint) ?? cause) : cause;
  switch (failure?.kind) {
    case "deadline":
      // Our own resolver may hang as well as fail, so a timeout of it is checked like other DNS faults.
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

/**
 * * A server may close a kept-alive connection just as it is used again. A failure within a round trip was sent before
 * the server saw the request, and says nothing about the venue. The next slot uses a new connection, so that a real
 * fault shows there.
 */
function isStale(exchange: RestExchange): boolean {
  const { connection, sentMs, firstByteMs, failedMs, roundTripMs } = exchange;
  if (connection || firstByteMs !== null || failedMs === null) return false;
  return sentMs === null || failedMs - sentMs <= 2 * roundTripMs + 10;
}

function judged(
  timed: Measurement,
  { body, headers, sentMs, endedMs }: RestExchange,
  { check, verdict }: Plan,
): Measurement {
  const checked = check(body.bytes(), headers["content-encoding"]);
  const { good, head } = checked;
  if (!good) return { ...timed, good, fault: "body", head };
  if (!verdict || sentMs === null || endedMs === null) return { ...timed, good, head };
  const serverMs = stampOf(headers.date?.toString());
  const answer = { ...checked, askedMs: sentMs, endedMs, serverMs };
  const { eventAgeMs, staleMs } = verdict(answer);
  const isStale = staleMs !== null;
  return {
    ...timed,
    good: !isStale,
    fault: isStale ? "stale" : null,
    head,
    eventAgeMs,
  };
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

function askedPauseMs({ headers }: RestExchange): number {
  return retryAfterMs(headers["retry-after"], Date.now());
}
