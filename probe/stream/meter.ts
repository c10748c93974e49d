import { noAges, type EventAges, type FrameTimes } from "./frame-times.js";
import type { Arrival } from "./socket.js";

/** What a stream did within one slot. */
export interface StreamMeasurement {
  /**
   * Whether the stream was subscribed all through the slot, and the slot is of its usual length: only then it is
   * measured.
   */
  isWhole: boolean;
  messages: number;
  /** The longest silence that touches the slot; it may have begun before, and may last on. */
  quietMs: number;
  /** Since when the stream is subscribed, and expected to speak. */
  subscribedMs: number;
  /**
   * When the last frame came, of this slot or one before; of a stream that has not spoken yet, when it was subscribed.
   */
  heardMs: number;
  ages: EventAges;
  /** How often a number was not the one that follows. */
  gaps: number;
}

/** Counts one stream's frames and its silences. All times are `performance.now()`. */
export interface Meter {
  /** The stream was acknowledged, or spoke; from here on it is expected to speak. */
  subscribed(atMs: number): void;
  isSubscribed(): boolean;
  /** The stream cannot be heard any more. */
  lost(): void;
  /** A parsed frame came. */
  frame(frame: unknown, arrival: Arrival, isGap?: boolean): void;
  /** Ends the slot and begins the next. Null where the stream is not subscribed. */
  read(atMs: number, slotMs: number): StreamMeasurement | null;
}

/** @param times null where frames do not say when they were sent */
export function makeMeter(times: FrameTimes | null = null): Meter {
  let subscribedMs: number | null = null;
  let heardMs = 0;
  let heard: Arrival | null = null;
  let readMs = 0;
  let messages = 0;
  let longestMs = 0;
  let gaps = 0;

  /** Returns what the event times of the slot that ends say. */
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
