import { limits } from "../../shared/measurement/probe-rules.js";
import type { Stream } from "../../shared/registry/registry.js";
import { eventAge } from "../rest/checks.js";
import { compileEventTime } from "./event-time.js";
import type { Arrival } from "./socket.js";

/** What the event times of a slot say. By our own clock as it is; all null where no frame bore a time to believe. */
export interface EventAges {
  /** How old the last event was when it came. */
  ageMs: number | null;
  /** How old the newest was when the last frame came; what may be from before the subscription is left out. */
  behindMs: number | null;
  /** When the newest was, by the venue's clock, milliseconds since 1970. */
  newestMs: number | null;
}

export interface NewestEvent {
  /** The stream was subscribed to again: what comes first may be old for a reason. */
  subscribed(atMs: number): void;
  came(frame: Buffer, arrival: Arrival): void;
  /** Ends the slot and begins the next. */
  take(): EventAges;
}

export const noAges: EventAges = {
  ageMs: null,
  behindMs: null,
  newestMs: null,
};

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
  let ages = noAges;
  let readMs = -Infinity;
  let settledMs = -Infinity;
  let newestSettledMs = -Infinity;

  /** Returns whether the frame bears a time to believe. */
  function read(frame: Buffer, { atMs, unixMs }: Arrival): boolean {
    const eventMs = timeMsOf(frame);
    const ageMs = eventAge(eventMs, unixMs);
    if (eventMs === null || ageMs === null) return false;
    const isSettled = atMs >= settledMs;
    if (isSettled) newestSettledMs = Math.max(eventMs, newestSettledMs);
    ages = {
      ageMs,
      behindMs: isSettled ? Math.round(unixMs - newestSettledMs) : null,
      newestMs: Math.max(eventMs, ages.newestMs ?? -Infinity),
    };
    return true;
  }

  return {
    subscribed(atMs) {
      settledMs = atMs + limits.stale_snapshot_ms;
    },
    came(frame, arrival) {
      last = frame;
      if (arrival !== lastArrival) lastArrival = arrival;
      if (arrival.atMs - readMs < readEveryMs) return;
      if (read(frame, arrival)) readMs = arrival.atMs;
    },
    take() {
      if (last && lastArrival) read(last, lastArrival);
      const taken = ages;
      last = lastArrival = null;
      ages = noAges;
      newestSettledMs = -Infinity;
      readMs = -Infinity;
      return taken;
    },
  };
}
