/** Turn after turn, never two at once. */
export interface Loop {
  /** The next turn begins at once; when one is under way, right after it. */
  wake: () => void;
  /** Resolves after the turn that is under way. There is none after it. */
  end: () => Promise<void>;
}

/** @param turn resolves with how long to rest before the next one, milliseconds */
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
