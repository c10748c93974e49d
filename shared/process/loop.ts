/** Runs turn after turn, never two at once. */
export interface Loop {
  /** Starts the next turn at once, or right after the current one. */
  wake: () => void;
  /** Resolves after the current turn, which is the last. */
  end: () => Promise<void>;
}

/** @param turn resolves with the pause before the next turn, milliseconds */
export function startLoop(turn: () => Promise<number>): Loop {
  let ending = false;
  let woken = false;
  let endRest = () => {};

  async function run(): Promise<void> {
    while (!ending) {
      woken = false;
      const restMs = await turn();
      if (!woken && !ending) await rest(restMs);
    }
  }

  function rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      endRest = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  const running = run();
  return {
    wake() {
      woken = true;
      endRest();
    },
    async end() {
      ending = true;
      endRest();
      await running;
    },
  };
}

/** Calls that come while one is in progress share its result: many callers cost no more than one. */
export function singleFlight<Answer>(make: () => Promise<Answer>): () => Promise<Answer> {
  let inProgress: Promise<Answer> | null = null;
  return () => {
    inProgress ??= make().finally(() => (inProgress = null));
    return inProgress;
  };
}
