import { systemClock, type Clock } from "../schedule/clock.js";
import { abortListenersOf } from "../schedule/abort-listeners.js";

/** `unknown`: there is nobody to compare with. */
export type Connectivity = "open" | "shut" | "unknown";

/**
 * Whether this machine had a way out while it waited for a host: told by what came back from all of them. What was only
 * heard proves nothing, since a stream is still read for seconds after nothing can be sent any more.
 */
export interface ConnectivityMonitor {
  /** The host is going to be asked for something, if only for a connection. */
  asked(host: string): void;
  /** Something that was sent to the host at `sentMs` (as of `performance.now()`) has just been answered. */
  answered(host: string, sentMs: number): void;
  /**
   * Whether the way was open while `host` owed us something, from `sinceMs` until now.
   *
   * At once where others are answered all the time; else when the next one is, or has been silent for longer than is
   * usual.
   */
  wayOut(host: string, sinceMs: number, signal?: AbortSignal): Promise<Connectivity>;
}

/** So long without any answer may be chance, however many are asked. */
const shortestMs = 2000;

/** For longer than this no verdict is waited for: a host that answers so seldom is none to compare with. */
const longestMs = 8000;

/** Beyond what is usual for the host that answers most often. */
const margin = 1.25;

/** Who has not answered for so long while others did owes us an answer, even if the way was shut after that. */
const enoughMs = 1000;

/** Answers that follow each other closer than this are of one beat. */
const beatMs = 500;

/** What is usual is the longest interval of late: by so much it is forgotten with each one. */
const shrink = 0.98;

/** So many others must have been asked, where nobody has ever answered. */
const crowd = 3;

/** A silence longer ago than this is no excuse any more: its connections would have recovered, or ended. */
const keepMs = 120_000;

interface Host {
  /** What was last answered was sent then. */
  sentMs: number;
  /** How long it is at most without an answer, as a rule. */
  usualMs: number | null;
  /** It has failed to answer since, by whosever fault: such an interval is not usual. */
  hasFailed: boolean;
}

const neverAnswered: Host = {
  ...{ sentMs: -Infinity, usualMs: null, hasFailed: false },
};

/** A time in which nobody at all answered. */
interface Silence {
  fromMs: number;
  toMs: number;
  /** Who answered until then, and how often each does. */
  lively: [host: string, usualMs: number][];
}

const monotonicClock: Clock = { ...systemClock, now: () => performance.now() };

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
      host.usualMs !== null && fromMs - host.sentMs <= patience(host.usualMs) ? [[name, host.usualMs]] : [],
    );
    return { fromMs, toMs, lively };
  }

  /** How long nobody may answer until it is more than chance; null where there is nobody to compare with. */
  function patienceFor(host: string, { lively }: Silence): number | null {
    if (!isAnswered) {
      const others = hosts.size - (hosts.has(host) ? 1 : 0);
      return others >= crowd ? longestMs : null;
    }
    const usual = lively.flatMap(([name, ms]) => (name === host ? [] : ms));
    const bearableMs = patience(Math.min(...usual));
    return bearableMs <= longestMs ? bearableMs : null;
  }

  function isShut(host: string, one: Silence): boolean {
    const bearableMs = patienceFor(host, one);
    return bearableMs !== null && one.toMs - one.fromMs >= bearableMs;
  }

  /** Until somebody is answered, or so long. */
  function nextAnswer(withinMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const stops = signal && abortListenersOf(signal);
      // After a standstill of ours, timers run before what came meanwhile is read.
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
      if (isAnswered && nowMs - sentMs! >= shortestMs)
        silences = silences.filter(({ toMs }) => toMs > nowMs - keepMs).concat(silence(nowMs));
      const known = hosts.get(name) ?? neverAnswered;
      if (nowMs - known.sentMs >= beatMs) {
        const usualMs = usual(known, nowMs);
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
        const bearableMs = patienceFor(host, quiet);
        if (bearableMs === null) return "unknown";
        const leftMs = bearableMs - (quiet.toMs - quiet.fromMs);
        await nextAnswer(Math.ceil(leftMs), signal);
      }
      return "unknown";
    },
  };
}

function patience(usualMs: number): number {
  return Math.max(shortestMs, usualMs * margin);
}

function usual({ sentMs, usualMs, hasFailed }: Host, nowMs: number): number | null {
  if (hasFailed || sentMs === -Infinity) return usualMs;
  return Math.max(nowMs - sentMs, (usualMs ?? 0) * shrink);
}
