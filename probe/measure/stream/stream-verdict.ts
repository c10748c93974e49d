import { stallBasis, type Stream } from "../../../shared/registry/registry.js";
import { probeLimits } from "../../../shared/rules/probe-rules.js";
import type { ClockError } from "../clock-error.js";
import type { Counterpart } from "../counterpart.js";
import { leastAge } from "../rest/checks.js";
import type { StreamMeasurement } from "./meter.js";

/** Judges the slots of one stream, one after the other. `nowMs` is when the slot was read, `performance.now()`. */
export interface StreamVerdict {
  /**
   * Records the stream's events. Must also be called for slots that are not measured, because their events were
   * received as well.
   */
  follow(reading: StreamMeasurement, nowMs: number): void;
  /** Judges a whole slot, after `follow` was called for it. */
  judge(reading: StreamMeasurement, nowMs: number): StreamFault | null;
}

/** The faults of a subscribed stream. */
export type StreamFault = "stall" | "stale";

/**
 * A silent stream may have nothing to send, and a stream with old data may have nothing newer. If the stream has a
 * counterpart, which shows whether there was something to send, the counterpart decides. Otherwise the threshold
 * decides, unless it is only an estimate: then silence alone is no fault.
 */
export function makeStreamVerdict(
  stream: Stream,
  counterpart: Pick<Counterpart, "cadenceMs" | "wentOn"> | null,
  clock: () => ClockError | null,
): StreamVerdict {
  const { stall, staleAfterMs } = stream;
  const isEstimate = stallBasis(stream) === "estimate";
  const staleMs = staleAfterMs ?? Math.max(probeLimits.stale_event_ms, probeLimits.stale_event_stalls * stall.afterMs);
  /** The newest event of the last slot that had frames, by the venue's clock; null: no frame had a credible time. */
  let eventMs: number | null = null;
  /** When the newest event last advanced, by `performance.now()`. */
  let advancedMs = -Infinity;
  /** The minimum age of its events, by our uncorrected clock. */
  let freshestMs = Infinity;
  let before: StreamFault | null = null;
  let subscribedMs = -Infinity;

  function isStalled({ quietMs, heardMs, subscribedMs }: StreamMeasurement, nowMs: number): boolean {
    const { afterMs } = stall;
    // a stalled stream that was subscribed to again has to deliver something first
    if (quietMs <= afterMs) return before === "stall" && heardMs === subscribedMs;
    if (!counterpart) return !isEstimate;
    // The stream sends again. The silence was judged in the slot before, whose verdict still holds.
    if (nowMs - heardMs <= afterMs) return before === "stall";
    const heard = { atMs: heardMs, eventMs };
    const wentOn = counterpart.wentOn(heard, afterMs, nowMs);
    return wentOn ?? isBeyondWaiting(counterpart, nowMs - heardMs - afterMs);
  }

  function isStale({ ages, messages }: StreamMeasurement, nowMs: number): boolean {
    const { behindMs, newestMs } = ages;
    // frames without a credible time do not end it
    if (behindMs === null) return before === "stale" && messages > 0;
    if (leastAge(behindMs, clock(), freshestMs) <= staleMs) return false;
    if (!counterpart) return true;
    const heard = { atMs: advancedMs, eventMs: newestMs };
    const wentOn = counterpart.wentOn(heard, staleMs, nowMs);
    return wentOn ?? isBeyondWaiting(counterpart, nowMs - advancedMs - staleMs);
  }

  /** Whether the verdict has waited long enough for a counterpart that does not answer. */
  function isBeyondWaiting({ cadenceMs }: Pick<Counterpart, "cadenceMs">, waitedMs: number) {
    return !isEstimate && waitedMs > probeLimits.counterpart_wait_cadences * cadenceMs;
  }

  function follow({ ages, ...reading }: StreamMeasurement, nowMs: number) {
    const { newestMs, behindMs } = ages;
    // The venue does not owe us events from before the subscription.
    if (reading.subscribedMs !== subscribedMs) eventMs = null;
    subscribedMs = reading.subscribedMs;
    // Frames without a credible time brought events newer than the last dated one: its time no longer shows what the
    // stream has missed.
    if (reading.messages > 0 && newestMs === null) eventMs = null;
    // A stream may begin with events older than the newest: they do not show what it has missed.
    if (newestMs === null || behindMs === null) return;
    freshestMs = Math.min(freshestMs, behindMs);
    if (eventMs === null || newestMs > eventMs) advancedMs = nowMs;
    eventMs = newestMs;
  }

  function judge(reading: StreamMeasurement, nowMs: number) {
    const isSilent = isStalled(reading, nowMs);
    before = isSilent ? "stall" : isStale(reading, nowMs) ? "stale" : null;
    return before;
  }

  return { follow, judge };
}
