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
  frame(atMs: number, eventAgeMs: number | null, isGap?: boolean): void;
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
  let gaps = 0;

  function beginSlot(atMs: number) {
    readMs = atMs;
    messages = 0;
    longestMs = 0;
    newestAgeMs = null;
    gaps = 0;
  }

  return {
    subscribed(atMs) {
      subscribedMs = atMs;
      heardMs = atMs;
      beginSlot(atMs);
    },
    isSubscribed: () => subscribedMs !== null,
    lost() {
      subscribedMs = null;
    },
    frame(atMs, eventAgeMs, isGap = false) {
      messages += 1;
      if (isGap) gaps += 1;
      if (atMs - heardMs > longestMs) longestMs = atMs - heardMs;
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
        gaps,
      };
      beginSlot(atMs);
      return isWhole ? reading : null;
    },
  };
}
