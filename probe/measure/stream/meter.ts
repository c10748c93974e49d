import type { Stream } from "../../../shared/registry/registry.js";
import { probeLimits } from "../../../shared/rules/probe-rules.js";
import { compileTime } from "../rest/checks.js";
import type { Arrival } from "./inflow.js";

/** The behaviour of a stream within one slot. */
export interface StreamMeasurement {
  /**
   * Whether the stream was subscribed during the whole slot, and the slot has its usual length. Only then is the slot
   * measured.
   */
  isWhole: boolean;
  messages: number;
  /** The longest silence that overlaps the slot; it may have begun before it, and may still last. */
  quietMs: number;
  /** Since when the stream is subscribed, and expected to send data. */
  subscribedMs: number;
  /** Arrival of the last frame, in this slot or earlier; without a frame since the subscription, `subscribedMs`. */
  heardMs: number;
  ages: EventAges;
  /** How often a sequence number was not the expected one. */
  gaps: number;
}

/** Counts one stream's frames and its silences. All times are by `performance.now()`. */
export interface Meter {
  /** The stream was acknowledged, or sent data; from here on it is expected to send data. */
  subscribed(atMs: number): void;
  isSubscribed(): boolean;
  /** The stream can no longer be received. */
  lost(): void;
  /** Records a parsed frame. */
  frame(frame: unknown, arrival: Arrival, isGap?: boolean): void;
  /** Ends the slot, and begins the next. Null if the stream is not subscribed. */
  read(atMs: number, slotMs: number): StreamMeasurement | null;
}

/** @param times null if the frames have no event times */
export function makeMeter(times: FrameTimes | null = null): Meter {
  let subscribedMs: number | null = null;
  let heardMs = 0;
  let heard: Arrival | null = null;
  let readMs = 0;
  let messages = 0;
  let longestMs = 0;
  let gaps = 0;

  /** Returns the event ages of the slot that ends. */
  function beginSlot(atMs: number): EventAges {
    readMs = atMs;
    messages = 0;
    longestMs = 0;
    gaps = 0;
    return times?.take() ?? noAges;
  }

  function hear(arrival: Arrival) {
    const { atMs } = arrival;
    heard = arrival;
    if (atMs - heardMs > longestMs) longestMs = atMs - heardMs;
    heardMs = atMs;
  }

  return {
    subscribed(atMs) {
      subscribedMs = atMs;
      heardMs = atMs;
      heard = null;
      beginSlot(atMs);
      times?.subscribed(atMs);
    },
    isSubscribed: () => subscribedMs !== null,
    lost() {
      subscribedMs = null;
    },
    frame(frame, arrival, isGap = false) {
      messages += 1;
      if (isGap) gaps += 1;
      if (arrival !== heard) hear(arrival);
      times?.came(frame, arrival);
    },
    read(atMs, slotMs) {
      // Timers are not exact: a slot may be read a little before or after its length.
      const toleranceMs = slotMs / 20;
      const countedMs = atMs - readMs;
      const reading = {
        messages,
        quietMs: Math.round(Math.max(longestMs, atMs - heardMs)),
        heardMs,
        gaps,
      };
      const ages = beginSlot(atMs);
      if (subscribedMs === null) return null;
      const isWhole = subscribedMs <= atMs - slotMs + toleranceMs && countedMs <= slotMs * 1.5;
      return { isWhole, ...reading, subscribedMs, ages };
    },
  };
}

/** Event ages of a slot, by our uncorrected clock; all null if no frame had a credible time. */
interface EventAges {
  /** Age of the last event on arrival. */
  ageMs: number | null;
  /** Age of the newest event when the last frame arrived, without events that may be older than the subscription. */
  behindMs: number | null;
  /** Time of the newest event, by the venue's clock, milliseconds since 1970. */
  newestMs: number | null;
}

/** Reads the event times of one stream's frames, slot by slot. */
interface FrameTimes {
  /** Records a new subscription: its first events may legitimately be old. */
  subscribed(atMs: number): void;
  /** Records a parsed frame. */
  came(frame: unknown, arrival: Arrival): void;
  /** Ends the slot, and begins the next. */
  take(): EventAges;
}

const noAges: EventAges = {
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
      settledMs = atMs + probeLimits.stale_snapshot_ms;
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

/** The last frame that a stream brought. */
export interface Heard {
  /** `performance.now()` */
  atMs: number;
  /** Time of the stream's newest event, by the venue's clock, milliseconds since 1970; null if unknown. */
  eventMs: number | null;
}
