import { setTimeout as sleep } from "node:timers/promises";

export interface PollingPace {
  /**
   * Waits until the host may be requested. Callers get their turns in the order of their calls.
   *
   * @param pauseMs from this turn to the host's next one
   * @throws the signal's reason if it ends the wait
   */
  turn(host: string, pauseMs: number, signal: AbortSignal): Promise<void>;
}

/** Spaces out requests to the same host, even if they are for different feeds. */
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
