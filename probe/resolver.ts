import { lookup as systemLookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { makeReach, type Reach } from "./reach.js";

/** What tells the venues' troubles from those of our own network. */
export interface Resolver extends Reach {
  /** Name to address, for the sockets of the probe. */
  lookup: LookupFunction;
  /** Whether any other watched name resolves just now: if none does, a failed lookup is our own trouble. */
  othersResolve(host: string): Promise<boolean>;
}

/** How many other names are tried, for how long, and for how long the answer holds. */
const names = 4;
const patienceMs = 3000;
const freshMs = 10_000;

/** @param hosts every host that the probe watches */
export function makeResolver(
  hosts: Iterable<string>,
  systemsLookup: LookupFunction = systemLookup,
): Resolver {
  const lookup = oneAtATime(systemsLookup);
  const watched = [...new Set(hosts)].filter((host) => !isIP(host));
  const resolvedAtMs = new Map<string, number>();

  function tried(host: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error("no answer")),
        patienceMs,
      );
      lookup(host, { all: true }, (error) => {
        clearTimeout(timer);
        if (error) return reject(error);
        resolvedAtMs.set(host, performance.now());
        resolve();
      });
    });
  }

  return {
    ...makeReach(),
    lookup,
    async othersResolve(host) {
      const others = watched.filter((other) => other !== host);
      const freshFromMs = performance.now() - freshMs;
      if (
        others.some(
          (other) => (resolvedAtMs.get(other) ?? -Infinity) > freshFromMs,
        )
      )
        return true;
      const attempts = spread(others, names).map(tried);
      return Promise.any(attempts).then(
        () => true,
        () => false,
      );
    },
  };
}

/**
 * One look-up of a name at a time, whose answer all get that ask meanwhile. The
 * system cannot be told to give one up, and has a thread for a few only (four,
 * where `UV_THREADPOOL_SIZE` says nothing): a venue whose name servers are
 * silent would hold all of them, and the look-ups of the others would wait
 * behind.
 */
function oneAtATime(lookup: LookupFunction): LookupFunction {
  const waiting = new Map<string, Parameters<LookupFunction>[2][]>();
  return (host, options, callback) => {
    const { all = false, family = 0, hints = 0 } = options;
    const asked = `${host} ${all} ${family} ${hints}`;
    const callbacks = waiting.get(asked);
    if (callbacks) {
      callbacks.push(callback);
      return;
    }
    const first = [callback];
    waiting.set(asked, first);
    lookup(host, options, (...answer) => {
      waiting.delete(asked);
      for (const tell of first) tell(...answer);
    });
  };
}

/** Some of the names, from the whole of the list: neighbours in the registry may share a resolver's fate. */
function spread(list: readonly string[], count: number): string[] {
  const step = Math.max(1, Math.floor(list.length / count));
  return list.filter((_, at) => at % step === 0).slice(0, count);
}
