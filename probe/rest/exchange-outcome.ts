/** What an exchange says about the venue. */
import type { RestEndpoint } from "../../shared/registry/registry.js";
import { stampOf } from "../network/clock-error.js";
import type { AnswerVerdict } from "./answer-verdict.js";
import type { AnswerCheck } from "./checks.js";
import type { RestExchange } from "./exchange.js";
import { causeOf, causeOfRefusal, type Cause, type VenueFault } from "./failure-cause.js";
import { nothingMeasured, type Measurement } from "./measurement.js";

/** Kept short: a server may also end connections on purpose, at once, and this tolerance hides some of these faults. */
const noticedWithinMs = 50;

/** How the answers of an endpoint are judged. */
export interface Judgement {
  expectStatus: RestEndpoint["expectStatus"];
  check: AnswerCheck;
  /** Judges the age of its data; null: any age is good. */
  verdict: AnswerVerdict | null;
}

/**
 * The measurement of a whole answer. What the venue says in it counts first, whatever its status; then the status, then
 * the proof.
 *
 * @param provider the host that answered
 */
export function measurementOf(exchange: RestExchange, judgement: Judgement, provider: string): Measurement {
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
export function failedMeasurement(exchange: RestExchange, fault: VenueFault): Measurement {
  return { ...nothingMeasured, ...timesOf(exchange), ...fault };
}

export function causeOfFailure(exchange: RestExchange, expectStatus: number): Cause {
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
