import type { Stream } from "../../shared/registry/registry.js";
import type { Cause } from "../rest/failure-cause.js";
import { makeFrameTimes } from "./frame-times.js";
import { makeMeter, type Meter } from "./stream-meter.js";
import { watchSequence, type SequenceWatch } from "./sequence.js";

/** A stream that the probe subscribes to. It outlives the sockets that carry it. */
export interface Subscription {
  stream: Stream;
  meter: Meter;
  /** Null if the venue does not number the frames. */
  sequence: SequenceWatch | null;
  /**
   * Why the venue does not serve the stream on the socket in use, and has sent nothing since; null if it serves the
   * stream, or still may.
   */
  trouble: SubscriptionError | null;
  /** What brought its socket down, until the stream is received for a whole slot again; null if nothing did. */
  fall: Cause | null;
  /** Its socket is opened only after a pause that we chose, because the venue limits or blocks us. */
  isPaused: boolean;
}

export interface SubscriptionError {
  /** `refused`: the venue refused it. `unanswered`: neither an acknowledgement nor data arrived in time. */
  kind: "refused" | "unanswered";
  /** When the subscription was first sent, by `performance.now()`. */
  askedMs: number;
  /** Text of the venue's refusal, or of one that named no subscription meanwhile; null if there was none. */
  words: string | null;
}

export function makeSubscription(stream: Stream): Subscription {
  const { eventTime } = stream;
  return {
    stream,
    meter: makeMeter(eventTime ? makeFrameTimes(eventTime) : null),
    sequence: stream.sequence ? watchSequence(stream.sequence) : null,
    trouble: null,
    fall: null,
    isPaused: false,
  };
}
