import { limits } from "../../shared/measurement/probe-rules.js";
import type { Stream } from "../../shared/registry/registry.js";
import { compileTime } from "../rest/answer-time.js";
import type { Arrival } from "./inflow.js";

/** Event ages of a slot, by our uncorrected clock; all null if no frame had a credible time. */
export interface EventAges {
  /** Age of the last event on arrival. */
  ageMs: number | null;
  /** Age of the newest event when the last frame arrived, without events that may be older than the subscription. */
  behindMs: number | null;
  /** Time of the newest event, by the venue's clock, milliseconds since 1970. */
  newestMs: number | null;
}

/** Reads the event times of one stream's frames, slot by slot. */
export interface FrameTimes {
  /** Records a new subscription: its first events may legitimately be old. */
  subscribed(atMs: number): void;
  /** Records a parsed frame. */
  came(frame: unknown, arrival: Arrival): void;
  /** Ends the slot, and begins the next. */
  take(): EventAges;
}

export const noAges: EventAges = {
  ageMs: null,
  behindMs: null,
  newestMs: null,
};

export function makeFrameTimes(eventTime: NonNullable<Stream["eventTime"]>): FrameTimes {
  const timeMsOf = compileTime(eventTime);
  let ages = noAges;
  let settledMs = -Infinity;
  let newestSettledMs = -Infinity;

  return {
    subscribed(atMs) {
      settledMs = atMs + limits.stale_snapshot_ms;
    },
    came(frame, { atMs, unixMs }) {
      const eventMs = timeMsOf(frame, unixMs);
      if (eventMs === null) return;
      const isSettled = atMs >= settledMs;
      if (isSettled) newestSettledMs = Math.max(eventMs, newestSettledMs);
      ages = {
        ageMs: Math.round(unixMs - eventMs),
        behindMs: isSettled ? Math.round(unixMs - newestSettledMs) : null,
        newestMs: Math.max(eventMs, ages.newestMs ?? -Infinity),
      };
    },
    take() {
      const taken = ages;
      ages = noAges;
      newestSettledMs = -Infinity;
      return taken;
    },
  };
}
