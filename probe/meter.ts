/** What a stream did within one slot. */
export interface Reading {
  messages: number;
  /** The longest silence that touches the slot; it may have begun before, and may last on. */
  quietMs: number;
  /** Of the newest event, at its arrival. */
  eventAgeMs: number | null;
}

/** Counts one stream's frames and its silences. All times are `performance.now()`. */
export interface Meter {
  /** The stream was asked for; from here on it is expected to speak. */
  subscribed(atMs: number): void;
  /** The stream cannot be heard any more. */
  lost(): void;
  frame(atMs: number, eventAgeMs: number | null): void;
  /** Ends the slot and begins the next. Null unless the stream was subscribed all through the slot. */
  read(atMs: number, slotMs: number): Reading | null;
}

export function makeMeter(): Meter {
  let subscribedMs: number | null = null;
  let heardMs = 0;
  let readMs = 0;
  let messages = 0;
  let longestMs = 0;
  let newestAgeMs: number | null = null;

  function beginSlot(atMs: number) {
    readMs = atMs;
    messages = 0;
    longestMs = 0;
    newestAgeMs = null;
  }

  return {
    subscribed(atMs) {
      subscribedMs = atMs;
      heardMs = atMs;
      beginSlot(atMs);
    },
    lost() {
      subscribedMs = null;
    },
    frame(atMs, eventAgeMs) {
      messages += 1;
      longestMs = Math.max(longestMs, atMs - heardMs);
      heardMs = atMs;
      newestAgeMs = eventAgeMs ?? newestAgeMs;
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
        eventAgeMs: newestAgeMs,
      };
      beginSlot(atMs);
      return isWhole ? reading : null;
    },
  };
}
