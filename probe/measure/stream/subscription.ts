import { parseJsonPath } from "../../../shared/registry/json-path.js";
import type { Sequence, Stream } from "../../../shared/registry/registry.js";
import type { Cause } from "../causes.js";
import { makeFrameTimes, makeMeter, type Meter } from "./meter.js";

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

/** Checks that a stream's frames follow each other on one socket. */
interface SequenceWatch {
  /** Records a parsed frame. Returns whether numbers before it are missing or out of order. */
  isGap(frame: unknown): boolean;
  /** Must be called for a new socket, whose numbers may begin anywhere. */
  restart(): void;
}

export function watchSequence(sequence: Sequence): SequenceWatch {
  const { kind } = sequence;
  const lastOf = compileNumber(sequence.path);
  const beforeOf = compileNumberBefore(sequence);
  let newest = NaN;

  function follows(last: number, before: number): boolean {
    if (kind === "counter") return last === newest + 1;
    return kind === "range" ? before === newest + 1 : before === newest;
  }

  return {
    isGap(frame) {
      const last = lastOf(frame);
      const before = beforeOf(frame);
      // Beyond 2^53 a number cannot be distinguished from the next one.
      if (!Number.isSafeInteger(last)) return false;
      // A frame without a previous number is a snapshot, and starts the sequence again.
      const begins = Number.isNaN(newest) || (kind !== "counter" && Number.isNaN(before));
      const isGap = !begins && !follows(last, before);
      newest = last;
      return isGap;
    },
    restart() {
      newest = NaN;
    },
  };
}

/**
 * A frame's information about the one before: the first number that it covers itself, or the last number of the
 * previous frame; NaN if it has none.
 */
function compileNumberBefore(sequence: Sequence): (frame: unknown) => number {
  if (sequence.kind === "counter") return () => NaN;
  return compileNumber(sequence.kind === "range" ? sequence.first : sequence.previous);
}

/** A number, or a string as `Number()` reads it; NaN for anything else. */
function compileNumber(path: string): (frame: unknown) => number {
  const valueOf = parseJsonPath(path);
  return (frame) => {
    const value = valueOf(frame);
    return typeof value === "number" || typeof value === "string" ? Number(value) : NaN;
  };
}
