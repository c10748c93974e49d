import { tolerableMs, type EventLoopWatch } from "../schedule/event-loop-watch.js";
import type { Meter, StreamMeasurement } from "./stream-meter.js";
import type { StreamFault, StreamVerdict } from "./stream-verdict.js";

export interface StreamSlot {
  reading: StreamMeasurement;
  fault: StreamFault | null;
}

/** Ends a slot of a stream. Null if the stream was not received during the whole slot. */
export type ReadSlot = (nowMs: number, slotMs: number) => StreamSlot | null;

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
