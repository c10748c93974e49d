import type { Stream } from "../../shared/registry/registry.js";
import type { Cause } from "../rest/cause.js";
import { makeFrameTimes } from "./frame-times.js";
import { makeMeter, type Meter } from "./meter.js";
import { watchSequence, type SequenceWatch } from "./sequence.js";

/** A stream as it is listened to. It outlives the sockets that carry it. */
export interface Subscription {
  stream: Stream;
  meter: Meter;
  /** Null where the venue does not number the frames. */
  sequence: SequenceWatch | null;
  /**
   * Why the venue does not serve the stream on the socket in use, and has sent nothing since; null: it does, or may
   * yet.
   */
  trouble: SubscriptionError | null;
  /** What brought its socket down, until the stream is heard for a whole slot again; null: nothing did. */
  fall: Cause | null;
}

export interface SubscriptionError {
  /** `refused`: the venue said so. `unanswered`: neither an acknowledgement nor data came in time. */
  kind: "refused" | "unanswered";
  /** When it was first asked for, `performance.now()`. */
  askedMs: number;
  /** How the venue put its refusal, or one that named none meanwhile; null where it said nothing. */
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
  };
}
