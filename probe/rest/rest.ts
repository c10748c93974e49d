import { headersAt } from "../../shared/registry/credentials.js";
import type { RestEndpoint } from "../../shared/registry/registry.js";
import { retryAfterMs } from "../../shared/measurement/retry-after.js";
import type { Fault } from "../../shared/measurement/sample.js";
import type { AnswerVerdict } from "./answer-verdict.js";
import { askedInTurn, type Address, type Request } from "./alternatives.js";
import { causeOfRefusal, unlessOurNetwork, type Cause } from "./failure-cause.js";
import { maxBodyBytes } from "../../shared/untrusted/limits.js";
import { compileAnswerCheck } from "./checks.js";
import type { ClockWatch } from "../network/clock-error.js";
import { makeLane, type RestExchange, type Lane, type RestRequest } from "./exchange.js";
import { causeOfFailure, failedMeasurement, measurementOf, type Judgement } from "./exchange-outcome.js";
import { isUnmeasured, type MeasurementOutcome } from "./measurement.js";
import { makePauses, type Pauses } from "./pauses.js";
import type { Resolver } from "../network/resolver.js";

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
   */
  endpoint(endpoint: RestEndpoint, verdict?: AnswerVerdict): Measure;
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
    endpoint(endpoint, verdict) {
      const { url, alternatives = [], expectStatus, timeoutMs } = endpoint;
      const judgement = { expectStatus, check: compileAnswerCheck(endpoint), verdict: verdict ?? null };
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
