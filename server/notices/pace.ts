import { setTimeout as sleep } from "node:timers/promises";

export interface PollingPace {
  /**
   * Waits for the host's turn. Turns are given in the order in which they are asked for.
   *
   * @param pauseMs until the host's next turn
   * @throws the signal's reason where that ends the waiting
   */
  turn(host: string, pauseMs: number, signal: AbortSignal): Promise<void>;
}

/** Keeps a distance between requests to the same host, whichever feeds they are for. */
export function makePace(): PollingPace {
  const nextMs = new Map<string, number>();
  return {
    async turn(host, pauseMs, signal) {
      const nowMs = performance.now();
      const turnMs = Math.max(nowMs, nextMs.get(host) ?? nowMs);
      nextMs.set(host, turnMs + pauseMs);
      if (turnMs <= nowMs) return;
      try {
        await sleep(turnMs - nowMs, undefined, { signal });
      } catch (error) {
        signal.throwIfAborted();
        throw error;
      }
    },
  };
}
