/**
 * Who has the backend. There is one, and it is one player's at a time: from
 * the first message of an exchange to the end of it, or of the transaction it
 * stands in. The others wait in the order in which they came.
 */

export interface Waiter {
  /** Whether it has something for the backend now. */
  ready(): boolean;
  /** Does one exchange, or as much of it as has come; answers whether it must keep the backend. */
  play(): Promise<"keeps" | "done">;
  /** How long it may keep the backend now without being ready. */
  idleMs(): number;
  /** It has kept the backend for too long without being ready: it must leave. */
  idleTooLong(): void;
}

export interface BackendMutex {
  /** To be called whenever the player may have become ready. */
  wake(player: Waiter): void;
  /** The player will not come again. What it does now is done to its end, then the next one has the backend. */
  leave(player: Waiter): void;
  /** Lets the exchange that is under way end, and no other begin. */
  stop(): Promise<void>;
}

/** @param onFailure what `play` rejected with; there are no more turns then */
export function makeBackendMutex(onFailure: (error: unknown) => void): BackendMutex {
  const waiting: Waiter[] = [];
  let holder: Waiter | undefined;
  let advancing = false;
  let ended = Promise.resolve();
  let stopped = false;
  let idle: NodeJS.Timeout | undefined;

  function start(): void {
    if (advancing || stopped) return;
    advancing = true;
    ended = advance().catch(fail);
  }

  async function advance(): Promise<void> {
    while (!stopped) {
      holder ??= nextReady();
      if (!holder?.ready()) break;
      await playOnce(holder);
    }
    advancing = false;
    // Others that come meanwhile do not prolong it: they are those who wait for it.
    if (holder && !stopped) idle ??= setTimeout(endIdling, holder.idleMs());
  }

  function nextReady(): Waiter | undefined {
    for (let next = waiting.shift(); next; next = waiting.shift()) if (next.ready()) return next;
    return undefined;
  }

  async function playOnce(player: Waiter): Promise<void> {
    stopIdling();
    const outcome = await player.play();
    if (holder !== player || outcome === "keeps") return;
    holder = undefined;
    if (player.ready()) waiting.push(player);
  }

  function stopIdling(): void {
    clearTimeout(idle);
    idle = undefined;
  }

  function endIdling(): void {
    idle = undefined;
    holder?.idleTooLong();
  }

  function fail(error: unknown): void {
    stopped = true;
    onFailure(error);
  }

  return {
    wake(player) {
      if (player !== holder && !waiting.includes(player)) waiting.push(player);
      start();
    },
    leave(player) {
      const place = waiting.indexOf(player);
      if (place >= 0) waiting.splice(place, 1);
      if (holder !== player) return;
      holder = undefined;
      stopIdling();
      start();
    },
    async stop() {
      stopped = true;
      stopIdling();
      await ended;
    },
  };
}
