import { limits } from "../../shared/measurement/probe-rules.js";
import type { Stream } from "../../shared/registry/registry.js";
import { compileTime } from "../rest/answer-time.js";
import { eventAge } from "../rest/checks.js";
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

/** Reads the event times of one stream's frames, slot by slot. */
export interface FrameTimes {
  /** The stream was subscribed to again: what comes first may be old for a reason. */
  subscribed(atMs: number): void;
  /** A parsed frame came. */
  came(frame: unknown, arrival: Arrival): void;
  /** Ends the slot and begins the next. */
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
      const eventMs = timeMsOf(frame);
      const ageMs = eventAge(eventMs, unixMs);
      if (eventMs === null || ageMs === null) return;
      const isSettled = atMs >= settledMs;
      if (isSettled) newestSettledMs = Math.max(eventMs, newestSettledMs);
      ages = {
        ageMs,
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
