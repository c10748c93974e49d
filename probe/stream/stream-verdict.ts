import { limits } from "../../shared/measurement/probe-rules.js";
import { stallBasis, type Stream } from "../../shared/registry/registry.js";
import type { ClockError } from "../lease/heartbeat.js";
import type { Counterpart } from "./counterpart.js";
import { leastAge } from "../rest/data-age.js";
import type { StreamMeasurement } from "./meter.js";

/** What is wrong with a stream that is subscribed. */
export type StreamFault = "stall" | "stale";

/** Judges the slots of one stream, one after the other. `nowMs` is when the slot was read, `performance.now()`. */
export interface StreamVerdict {
  /** The stream brought this, be the slot measured or not: what it brought is not missing. */
  follow(reading: StreamMeasurement, nowMs: number): void;
  /** Judges a slot that is whole, and was followed. */
  judge(reading: StreamMeasurement, nowMs: number): StreamFault | null;
}

/**
 * A stream that says nothing may have nothing to say, and one that says what is old may have nothing newer. Where the
 * venue shows elsewhere whether there was something (its counterpart), that decides. Where it does not, the threshold
 * decides, unless it is only an estimate: silence alone is then no fault.
 */
export function makeStreamVerdict(
  stream: Stream,
  counterpart: Counterpart | null,
  clock: () => ClockError | null,
): StreamVerdict {
  const { stall, staleAfterMs } = stream;
  const isEstimate = stallBasis(stream) === "estimate";
  const staleMs = staleAfterMs ?? Math.max(limits.stale_event_ms, limits.stale_event_stalls * stall.afterMs);
  /** The newest event of the last slot that had one, by the venue's clock. */
  let eventMs: number | null = null;
  /** When an event was newer than all before it, `performance.now()`. */
  let advancedMs = -Infinity;
  /** The least age that its events had, by our clock as it is. */
  let freshestMs = Infinity;
  let before: StreamFault | null = null;
  let subscribedMs = -Infinity;

  function isStalled({ quietMs, heardMs }: StreamMeasurement, nowMs: number): boolean {
    const { afterMs } = stall;
    if (quietMs <= afterMs) return false;
    if (!counterpart) return !isEstimate;
    // It has spoken again: the slot is as the one before, in which the silence was judged.
    if (nowMs - heardMs <= afterMs) return before === "stall";
    const heard = { atMs: heardMs, eventMs };
    const wentOn = counterpart.wentOn(heard, afterMs, nowMs);
    return wentOn ?? isBeyondWaiting(counterpart, nowMs - heardMs - afterMs);
  }

  function isStale({ ages, messages }: StreamMeasurement, nowMs: number): boolean {
    const { behindMs, newestMs } = ages;
    // After a day without a move the times are none to believe any more.
    if (behindMs === null) return before === "stale" && messages > 0;
    if (leastAge(behindMs, clock(), freshestMs) <= staleMs) return false;
    if (!counterpart) return true;
    const heard = { atMs: advancedMs, eventMs: newestMs };
    const wentOn = counterpart.wentOn(heard, staleMs, nowMs);
    return wentOn ?? isBeyondWaiting(counterpart, nowMs - advancedMs - staleMs);
  }

  /** Its counterpart is not answered. */
  function isBeyondWaiting({ cadenceMs }: Counterpart, waitedMs: number) {
    return !isEstimate && waitedMs > limits.counterpart_wait_cadences * cadenceMs;
  }

  function follow({ ages, ...reading }: StreamMeasurement, nowMs: number) {
    const { newestMs, behindMs } = ages;
    // What happened before it was asked for is not owed to us.
    if (reading.subscribedMs !== subscribedMs) eventMs = null;
    subscribedMs = reading.subscribedMs;
    // A stream may begin with older events than the newest: those do not tell what it has missed.
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
