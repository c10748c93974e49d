/**
 * One direction of a connection: segments arrive in the order in which they were sent. What a cut link keeps back is
 * sent again, at growing intervals, until it has arrived and its acknowledgement has come back.
 */
import type { VirtualTime } from "../virtual-time.js";
import { firstRetransmissionMs, type Link } from "./links.js";

/** How long a sender keeps sending without an acknowledgement. Linux needs about 15 minutes. */
export const giveUpAfterMs = 120_000;

export interface PipeOptions {
  time: VirtualTime;
  /** Carries the segments. */
  link: Link;
  /** Carries their acknowledgements. */
  back: Link;
  /** Called when the sender has waited too long for an acknowledgement. */
  onGiveUp: () => void;
}

export interface Pipe {
  send: (arrive: () => void) => void;
  /** Whether something that was sent has not been acknowledged. */
  isWaiting: () => boolean;
  /** Nothing arrives after that. */
  close: () => void;
}

interface Segment {
  dueMs: number;
  arrive: () => void;
}

export function makePipe({ time, link, back, onGiveUp }: PipeOptions): Pipe {
  let segments: Segment[] = [];
  let lastDueMs = -Infinity;
  let isClosed = false;
  /** Since when the sender misses an acknowledgement. */
  let missingSinceMs: number | null = null;
  /** Segments wait for a retransmission. */
  let isHeld = false;
  let intervalMs = firstRetransmissionMs;

  function arriveDue(): void {
    if (isClosed || isHeld) return;
    if (link.isCut()) isHeld = segments.length > 0;
    else while (!isClosed && segments[0] && segments[0].dueMs <= time.nowMs()) segments.shift()!.arrive();
    if (!isClosed && (isHeld || back.isCut())) awaitAcknowledgement();
  }

  function awaitAcknowledgement(): void {
    if (missingSinceMs !== null) return;
    missingSinceMs = time.nowMs();
    intervalMs = firstRetransmissionMs;
    sendAgainLater(missingSinceMs);
  }

  function sendAgainLater(sinceMs: number): void {
    const leftMs = sinceMs + giveUpAfterMs - time.nowMs();
    time.schedule(Math.min(intervalMs, leftMs), sendAgain, null);
    intervalMs *= 2;
  }

  function sendAgain(): void {
    if (isClosed || missingSinceMs === null) return;
    if (!link.isCut()) {
      isHeld = false;
      while (!isClosed && segments[0] && segments[0].dueMs <= time.nowMs()) segments.shift()!.arrive();
      if (isClosed) return;
      if (!back.isCut()) return void (missingSinceMs = null);
    }
    if (time.nowMs() < missingSinceMs + giveUpAfterMs) return sendAgainLater(missingSinceMs);
    close();
    onGiveUp();
  }

  function close(): void {
    isClosed = true;
    segments = [];
  }

  return {
    send(arrive) {
      if (isClosed) return;
      lastDueMs = Math.max(lastDueMs, time.nowMs() + link.nextDelayMs());
      segments.push({ dueMs: lastDueMs, arrive });
      time.schedule(lastDueMs - time.nowMs(), arriveDue, null);
    },
    isWaiting: () => segments.length > 0 || missingSinceMs !== null,
    close,
  };
}
