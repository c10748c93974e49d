/** TCP's probes of silent connections, with the numbers that node sets. */
import type { VirtualTime } from "../virtual-time.js";
import type { Link } from "./links.js";

const probeEveryMs = 1_000;
const mostProbes = 10;

export interface KeepAliveOptions {
  time: VirtualTime;
  link: Link;
  back: Link;
  isOpen: () => boolean;
  /** Whether sent bytes are not acknowledged yet; then there are no probes, only retransmissions. */
  isWaiting: () => boolean;
  isPeerGone: () => boolean;
  /** The other machine does not know the connection. */
  onReset: () => void;
  /** No probe was answered. */
  onSilence: () => void;
}

export interface KeepAlive {
  /** @param idleMs silence before the first probe; null: none is sent */
  set: (idleMs: number | null) => void;
  /** Something from the other end has arrived. */
  onHeard: () => void;
}

export function makeKeepAlive(options: KeepAliveOptions): KeepAlive {
  const { time, link, back, isOpen, isWaiting, isPeerGone, onReset, onSilence } = options;
  let idleMs: number | null = null;
  let heardMs = time.nowMs();
  let unanswered = 0;
  let cancel = () => {};

  function checkAfter(ms: number): void {
    cancel = time.schedule(ms, check, null);
  }

  function check(): void {
    if (idleMs === null || !isOpen()) return;
    const dueMs = heardMs + idleMs;
    if (dueMs > time.nowMs()) return checkAfter(dueMs - time.nowMs());
    if (isWaiting()) return checkAfter(idleMs);
    if (link.isCut() || back.isCut()) {
      unanswered += 1;
      if (unanswered > mostProbes) onSilence();
      else checkAfter(probeEveryMs);
    } else if (isPeerGone()) {
      time.schedule(link.nextDelayMs() + back.nextDelayMs(), onReset, null);
    } else {
      onHeard();
      checkAfter(idleMs);
    }
  }

  function onHeard(): void {
    heardMs = time.nowMs();
    unanswered = 0;
  }

  return {
    set(given) {
      cancel();
      idleMs = given;
      if (idleMs !== null) checkAfter(idleMs);
    },
    onHeard,
  };
}
