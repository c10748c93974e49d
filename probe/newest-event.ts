import type { Stream } from "../server/registry.js";
import { eventAge } from "./checks.js";
import { compileEventTime } from "./event-time.js";
import type { Arrival } from "./socket.js";

/** How old the newest event of a slot was when it came. */
export interface NewestEvent {
  came(frame: Buffer, arrival: Arrival): void;
  /** By our own clock as it is; null where no frame bore a time to believe. Begins the next slot. */
  takeAgeMs(): number | null;
}

/**
 * Times stand at the end of many frames, and passing over all that is before
 * costs more than all else. So the last frame is kept, and read when the slot
 * ends. One is read each so often all the same, for not every frame need bear a
 * time: where the last has none, the age is that of an event at most so much
 * before the newest that has one.
 */
const readEveryMs = 250;

export function makeNewestEvent(
  eventTime: NonNullable<Stream["eventTime"]>,
): NewestEvent {
  const timeMsOf = compileEventTime(eventTime);
  // It keeps the piece in which it came from being freed, 64 KiB at most beyond its own length.
  let last: Buffer | null = null;
  let lastArrival: Arrival | null = null;
  let ageMs: number | null = null;
  let readMs = -Infinity;

  return {
    came(frame, arrival) {
      last = frame;
      if (arrival !== lastArrival) lastArrival = arrival;
      const { atMs, unixMs } = arrival;
      if (atMs - readMs < readEveryMs) return;
      const readAgeMs = eventAge(timeMsOf(frame), unixMs);
      if (readAgeMs === null) return;
      ageMs = readAgeMs;
      readMs = atMs;
    },
    takeAgeMs() {
      const lastAgeMs =
        last && lastArrival && eventAge(timeMsOf(last), lastArrival.unixMs);
      const takenMs = lastAgeMs ?? ageMs;
      last = lastArrival = null;
      ageMs = null;
      readMs = -Infinity;
      return takenMs;
    },
  };
}
