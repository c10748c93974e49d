import { bearableMs, type EventLoopWatch } from "../schedule/event-loop-watch.js";
import type { Meter, StreamMeasurement } from "./meter.js";
import type { StreamFault, StreamVerdict } from "./stream-verdict.js";

export interface StreamSlot {
  reading: StreamMeasurement;
  fault: StreamFault | null;
}

/** Ends a slot of a stream. Null where the stream was not heard all through it. */
export type ReadSlot = (nowMs: number, slotMs: number) => StreamSlot | null;

/** Reads and judges the slots of one stream, one after the other. */
export function makeReadSlot(
  meter: Meter,
  verdict: StreamVerdict,
  watch: Pick<EventLoopWatch, "stoodStillSince">,
): ReadSlot {
  let readMs = -Infinity;

  return (nowMs, slotMs) => {
    const stoodStill = watch.stoodStillSince(readMs, bearableMs.memory);
    readMs = nowMs;
    const reading = meter.read(nowMs, slotMs);
    if (!reading) return null;
    if (stoodStill) {
      // What came meanwhile is read at once, in pieces, or was lost with the machine's network: it begins as a new
      // subscription does.
      meter.subscribed(nowMs);
      return null;
    }
    verdict.follow(reading, nowMs);
    return reading.isWhole ? { reading, fault: verdict.judge(reading, nowMs) } : null;
  };
}
