import { lookup as systemLookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { threadsOfNode } from "../../shared/config/settings.js";
import { makeConnectivityMonitor, type ConnectivityMonitor } from "./own-network.js";

/** Resolves names, and distinguishes faults of venues from trouble of this machine's own network. */
export interface Resolver extends ConnectivityMonitor {
  /** Name to address, for the sockets of the probe. */
  lookup: LookupFunction;
  /**
   * Whether any other watched name resolves while this one has not since `sinceMs` (by `performance.now()`). If none
   * does, it is probe trouble. Also false if this look-up had to wait for a free thread.
   */
  othersResolve(host: string, sinceMs: number): Promise<boolean>;
}

/** How many other names are tried, and the timeout of each. */
const otherNames = 4;
const patienceMs = 3000;

/** Look-ups may use half of Node's threads. */
const usualTurns = Math.floor((threadsOfNode() + 1) / 2);

/**
 * @param hosts every host that the probe watches
 * @param turns how many names the system looks up at a time; further look-ups wait
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
      const attempts = spreadNames(others, otherNames).map(tried);
      return Promise.any(attempts).then(
        () => true,
        () => false,
      );
    },
  };
}

/**
 * Allows one look-up per name at a time, whose result all callers share. A look-up of the system cannot be cancelled,
 * and there are threads for only a few (four, unless `UV_THREADPOOL_SIZE` is set): otherwise a venue whose name servers
 * are silent would occupy all threads, and the look-ups of other venues would have to wait.
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
      for (const callback of callbacks) callback(...answer);
    });
  };

  return {
    lookup,
    /** Whether the oldest pending look-up of the name had to wait for a free thread. */
    isWaiting: (host: string) => [...pending.values()].find((one) => one.host === host)?.hadToWait ?? false,
  };
}

interface Pending {
  host: string;
  callbacks: Parameters<LookupFunction>[2][];
  /** Other look-ups occupied all threads when it began. */
  hadToWait: boolean;
}

/** `count` names spread over the whole list: neighbours in the registry may share name servers. */
function spreadNames(list: readonly string[], count: number): string[] {
  const step = Math.max(1, Math.floor(list.length / count));
  return list.filter((_, at) => at % step === 0).slice(0, count);
}
