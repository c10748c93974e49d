/**
 * An endpoint with several addresses that give the same answer: nodes of third parties, through which a venue is read.
 */
import type { Fault } from "../../shared/measurement/sample.js";
import { isUnmeasured, nothingMeasured, type MeasurementOutcome } from "./measurement.js";
import type { AddressPauses } from "./pauses.js";

/** One of the addresses of an endpoint. */
export interface Address extends Pick<AddressPauses, "skipped"> {
  ask(request: Request): Promise<MeasurementOutcome>;
}

export interface Request {
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
export async function askedInTurn(
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
    const outcome = address === addresses[0] ? answer : untimed(answer);
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
function untimed(outcome: MeasurementOutcome): MeasurementOutcome {
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
