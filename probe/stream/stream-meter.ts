import { noAges, type EventAges, type FrameTimes } from "./frame-times.js";
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
