import { type Clock, monotonicClock } from "../../shared/process/clock.js";
import { abortListenersOf } from "./abort-listeners.js";

/** `unknown`: there is no other host to compare with. */
export type Connectivity = "open" | "shut" | "unknown";

/**
 * Whether this machine had a way out while it waited for a host, judged by the answers of all hosts. Received data that
 * answers nothing proves nothing: a stream may still be read for seconds after sending has become impossible.
 */
export interface ConnectivityMonitor {
  /** A request, or a connection, is about to be sent to the host. */
  asked(host: string): void;
  /** The host has just answered something that was sent at `sentMs` (by `performance.now()`). */
  answered(host: string, sentMs: number): void;
  /**
   * Whether this machine had a way out while `host` owed us an answer, from `sinceMs` until now.
   *
   * Resolves at once if other hosts answer all the time; otherwise when the next one answers, or has been silent for
   * longer than usual.
   */
  wayOut(host: string, sinceMs: number, signal?: AbortSignal): Promise<Connectivity>;
  /** Forgets the usual intervals of hosts that are no longer asked. */
  forget(names: readonly string[]): void;
}

/** A silence of all hosts up to this length may be chance, however many are asked. */
const shortestMs = 2000;

/** No verdict waits longer than this: a host that answers so seldom is not suitable for a comparison. */
const longestMs = 8000;

/** Factor above the usual interval of the host that answers most often. */
const patienceMargin = 1.25;

/**
 * If a request sent this long after `sinceMs` was answered, the way was open long enough, even if it was shut later.
 */
const enoughMs = 1000;

/** Answers closer together than this count as one. */
const beatMs = 500;

/** The usual interval is the longest recent one: it shrinks by this factor with each answer. */
const intervalShrink = 0.98;

/** If no host has ever answered, at least this many others must have been asked. */
const fewestAsked = 3;

/** An older silence no longer excuses anything: connections would have recovered or ended since. */
const keepMs = 120_000;

interface Host {
  /** When the request that it answered last was sent. */
  sentMs: number;
  /** Its longest usual interval between answers. */
  usualMs: number | null;
  /** It has failed to answer since, no matter whose fault that was: such an interval does not count as usual. */
  hasFailed: boolean;
}

const neverAnswered: Host = {
  ...{ sentMs: -Infinity, usualMs: null, hasFailed: false },
};

/** A period in which no host answered. */
interface Silence {
  fromMs: number;
  toMs: number;
  /** The hosts that answered until then, with their usual intervals. */
  lively: [host: string, usualMs: number][];
  /** No host had ever answered. */
  isFirst: boolean;
}

export function makeConnectivityMonitor(clock: Clock = monotonicClock): ConnectivityMonitor {
  const now = () => clock.now();
  const hosts = new Map<string, Host>();
  const waiting = new Set<() => void>();
  let silences: Silence[] = [];
  let sentMs: number | null = null;
  let isAnswered = false;

  function silence(toMs: number): Silence {
    const fromMs = sentMs ?? toMs;
    const lively = [...hosts].flatMap(([name, host]): Silence["lively"] =>
      host.usualMs !== null && fromMs - host.sentMs <= patienceMsOf(host.usualMs) ? [[name, host.usualMs]] : [],
    );
    return { fromMs, toMs, lively, isFirst: !isAnswered };
  }

  /**
   * How long a silence of all hosts may last before it is more than chance; null if there is no host to compare with.
   */
  function patienceFor(host: string, { lively, isFirst }: Silence): number | null {
    if (isFirst) {
      const others = hosts.size - (hosts.has(host) ? 1 : 0);
      return others >= fewestAsked ? longestMs : null;
    }
    const usual = lively.flatMap(([name, ms]) => (name === host ? [] : ms));
    const tolerableMs = patienceMsOf(Math.min(...usual));
    return tolerableMs <= longestMs ? tolerableMs : null;
  }

  function isShut(host: string, one: Silence): boolean {
    const tolerableMs = patienceFor(host, one);
    return tolerableMs !== null && one.toMs - one.fromMs >= tolerableMs;
  }

  /** Resolves at the next answer of any host, but after `withinMs` at the latest. */
  function nextAnswer(withinMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const stops = signal && abortListenersOf(signal);
      // After a standstill of this process, timers run before the data that arrived meanwhile is read.
      const cancel = clock.after(withinMs, () => setImmediate(done));
      waiting.add(done);
      stops?.add(done);

      function done() {
        cancel();
        waiting.delete(done);
        stops?.delete(done);
        resolve();
      }
    });
  }

  return {
    asked(name) {
      sentMs ??= now();
      if (!hosts.has(name)) hosts.set(name, neverAnswered);
    },
    answered(name, askedMs) {
      const nowMs = now();
      if (sentMs !== null && nowMs - sentMs >= shortestMs)
        silences = silences.filter(({ toMs }) => toMs > nowMs - keepMs).concat(silence(nowMs));
      const known = hosts.get(name) ?? neverAnswered;
      if (nowMs - known.sentMs >= beatMs) {
        // we may have sent nothing meanwhile, for example without a resolver: such a gap is not the host's
        const wasSilent = silences.some(({ fromMs, toMs }) => toMs > known.sentMs && toMs - fromMs > longestMs);
        const usualMs = wasSilent ? known.usualMs : usualIntervalMs(known, nowMs);
        hosts.set(name, { sentMs: askedMs, usualMs, hasFailed: false });
      }
      sentMs = Math.max(sentMs ?? askedMs, askedMs);
      isAnswered = true;
      for (const wake of waiting) wake();
    },
    async wayOut(host, sinceMs, signal) {
      hosts.set(host, {
        ...(hosts.get(host) ?? neverAnswered),
        hasFailed: true,
      });
      const enough = sinceMs + Math.min(enoughMs, (now() - sinceMs) / 2);
      while (!signal?.aborted) {
        const quiet = silence(now());
        const touching = silences.filter(({ toMs }) => toMs > Math.max(sinceMs, now() - keepMs));
        if ([...touching, quiet].some((one) => isShut(host, one))) return "shut";
        if (isAnswered && sentMs! >= enough) return "open";
        const tolerableMs = patienceFor(host, quiet);
        if (tolerableMs === null) return "unknown";
        const leftMs = tolerableMs - (quiet.toMs - quiet.fromMs);
        await nextAnswer(Math.ceil(leftMs), signal);
      }
      return "unknown";
    },
    forget(names) {
      for (const name of names) hosts.delete(name);
    },
  };
}

function patienceMsOf(usualMs: number): number {
  return Math.max(shortestMs, usualMs * patienceMargin);
}

function usualIntervalMs({ sentMs, usualMs, hasFailed }: Host, nowMs: number): number | null {
  if (hasFailed || sentMs === -Infinity) return usualMs;
  return Math.max(nowMs - sentMs, (usualMs ?? 0) * intervalShrink);
}
