import { lookup as systemLookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { threadsOfNode } from "../../shared/config/settings.js";
import { makeConnectivityMonitor, type ConnectivityMonitor } from "./connectivity.js";

/** What tells the venues' troubles from those of our own network. */
export interface Resolver extends ConnectivityMonitor {
  /** Name to address, for the sockets of the probe. */
  lookup: LookupFunction;
  /**
   * Whether any other watched name resolves, when this one did not since `sinceMs` (as of `performance.now()`): if none
   * does, it is our own trouble. So it is where this look-up had to wait for its turn.
   */
  othersResolve(host: string, sinceMs: number): Promise<boolean>;
}

/** How many other names are tried, and for how long. */
const names = 4;
const patienceMs = 3000;

/** Of Node's threads look-ups get half. */
const usualTurns = Math.floor((threadsOfNode() + 1) / 2);

/**
 * @param hosts every host that the probe watches
 * @param turns how many names the system looks up at a time; others wait
 */
export function makeResolver(
  hosts: Iterable<string>,
  systemsLookup: LookupFunction = systemLookup,
  turns = usualTurns,
): Resolver {
  const { lookup, isWaiting } = oneAtATime(systemsLookup, turns);
  const watched = [...new Set(hosts)].filter((host) => !isIP(host));
  const resolvedAtMs = new Map<string, number>();

  function tried(host: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error("no answer")), patienceMs);
      lookup(host, { all: true }, (error) => {
        clearTimeout(timer);
        if (error) return reject(error);
        resolvedAtMs.set(host, performance.now());
        resolve();
      });
    });
  }

  return {
    ...makeConnectivityMonitor(),
    lookup,
    async othersResolve(host, sinceMs) {
      if (isWaiting(host)) return false;
      const others = watched.filter((other) => other !== host);
      if (others.some((other) => (resolvedAtMs.get(other) ?? -Infinity) > sinceMs)) return true;
      const attempts = spread(others, names).map(tried);
      return Promise.any(attempts).then(
        () => true,
        () => false,
      );
    },
  };
}

/**
 * One look-up of a name at a time, whose answer all get that ask meanwhile. The system cannot be told to give one up,
 * and has a thread for a few only (four, where `UV_THREADPOOL_SIZE` says nothing): a venue whose name servers are
 * silent would hold all of them, and the look-ups of the others would wait behind.
 */
function oneAtATime(systemsLookup: LookupFunction, turns: number) {
  const pending = new Map<string, Pending>();

  const lookup: LookupFunction = (host, options, callback) => {
    const { all = false, family = 0, hints = 0 } = options;
    const asked = `${host} ${all} ${family} ${hints}`;
    const known = pending.get(asked);
    if (known) {
      known.callbacks.push(callback);
      return;
    }
    const callbacks = [callback];
    pending.set(asked, { host, callbacks, hadToWait: pending.size >= turns });
    systemsLookup(host, options, (...answer) => {
      pending.delete(asked);
      for (const tell of callbacks) tell(...answer);
    });
  };

  return {
    lookup,
    /** Whether the oldest look-up of the name that has not come back did not get its turn at once either. */
    isWaiting: (host: string) => [...pending.values()].find((one) => one.host === host)?.hadToWait ?? false,
  };
}

/** A look-up that has not come back. */
interface Pending {
  host: string;
  callbacks: Parameters<LookupFunction>[2][];
  /** Others had all the turns when it was asked for. */
  hadToWait: boolean;
}

/** Some of the names, from the whole of the list: neighbours in the registry may share a resolver's fate. */
function spread(list: readonly string[], count: number): string[] {
  const step = Math.max(1, Math.floor(list.length / count));
  return list.filter((_, at) => at % step === 0).slice(0, count);
}
