import type { NewestEvent } from "./newest-event.js";
import type { Arrival } from "./socket.js";

/** What a stream did within one slot. */
export interface Reading {
  messages: number;
  /** The longest silence that touches the slot; it may have begun before, and may last on. */
  quietMs: number;
  /** Of the newest event, at its arrival, by our own clock as it is. */
  eventAgeMs: number | null;
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
  /** `frame` may be kept until the slot is read. */
  frame(frame: Buffer, arrival: Arrival, isGap?: boolean): void;
  /** Ends the slot and begins the next. Null unless the stream was subscribed all through the slot. */
  read(atMs: number, slotMs: number): Reading | null;
}

/** @param newest null where frames do not say when they were sent */
export function makeMeter(newest: NewestEvent | null = null): Meter {
  let subscribedMs: number | null = null;
  let heardMs = 0;
  let heard: Arrival | null = null;
  let readMs = 0;
  let messages = 0;
  let longestMs = 0;
  let gaps = 0;

  /** Returns the age of the newest event of the slot that ends. */
  function beginSlot(atMs: number): number | null {
    readMs = atMs;
    messages = 0;
    longestMs = 0;
    gaps = 0;
    return newest?.takeAgeMs() ?? null;
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
    },
    isSubscribed: () => subscribedMs !== null,
    lost() {
      subscribedMs = null;
    },
    frame(frame, arrival, isGap = false) {
      messages += 1;
      if (isGap) gaps += 1;
      if (arrival !== heard) hear(arrival);
      newest?.came(frame, arrival);
    },
    read(atMs, slotMs) {
      // Timers are not exact: a slot may be read a little before or after its length.
      const toleranceMs = slotMs / 20;
      const countedMs = atMs - readMs;
      const isWhole =
        subscribedMs !== null &&
        subscribedMs <= atMs - slotMs + toleranceMs &&
        countedMs <= slotMs * 1.5;
      const reading = {
        messages,
        quietMs: Math.round(Math.max(longestMs, atMs - heardMs)),
        gaps,
      };
      const eventAgeMs = beginSlot(atMs);
      return isWhole ? { ...reading, eventAgeMs } : null;
    },
  };
}
