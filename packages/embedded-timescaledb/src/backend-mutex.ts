/**
 * Lets one waiter at a time hold the backend, of which there is only one: from the first message of an exchange to its
 * end, or to the end of its transaction. The others wait in the order of their arrival, but those that come first
 * precede the rest: else a login with many connections could let the service's own programs wait for a turn of each.
 */

export interface Waiter {
  /** Whether it has work for the backend now. */
  ready(): boolean;
  /** Whether it precedes others that arrived earlier. */
  comesFirst(): boolean;
  /** Performs one exchange, or the part of it that has arrived. Returns whether it must keep the backend. */
  play(): Promise<"keeps" | "done">;
  /** How long it may still hold the backend without being ready. */
  idleMs(): number;
  /** Called when it has held the backend for too long without being ready: it must leave. */
  idleTooLong(): void;
}

export interface BackendMutex {
  /** To be called whenever the waiter may have become ready. */
  wake(waiter: Waiter): void;
  /** The waiter will not return. Its current exchange is finished; then the next waiter gets the backend. */
  leave(waiter: Waiter): void;
  /** Waits for the running exchange and starts no other. */
  stop(): Promise<void>;
}

/** @param onFailure receives the error with which `play` rejected; nobody gets the backend any more then */
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
    // A waiter that arrives meanwhile does not restart the timer: it is waiting for this backend.
    if (holder && !stopped) idle ??= setTimeout(endIdling, holder.idleMs());
  }

  function nextReady(): Waiter | undefined {
    // of a copy, because a waiter may leave when it is asked
    const ready = [...waiting].filter((waiter) => waiter.ready());
    const next = ready.find((waiter) => waiter.comesFirst()) ?? ready[0];
    waiting.splice(0, waiting.length, ...ready.filter((waiter) => waiter !== next));
    return next;
  }

  async function playOnce(waiter: Waiter): Promise<void> {
    stopIdling();
    const outcome = await waiter.play();
    if (holder !== waiter || outcome === "keeps") return;
    holder = undefined;
    if (waiter.ready()) waiting.push(waiter);
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
    wake(waiter) {
      if (waiter !== holder && !waiting.includes(waiter)) waiting.push(waiter);
      start();
    },
    leave(waiter) {
      const place = waiting.indexOf(waiter);
      if (place >= 0) waiting.splice(place, 1);
      if (holder !== waiter) return;
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
