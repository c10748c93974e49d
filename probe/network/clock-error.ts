import type { ClockError } from "../lease/heartbeat.js";

export interface ClockWatch {
  /**
   * An answer with a Date header came from a host. Times are wall clock milliseconds of this machine: before the
   * request was sent, and when its first byte came.
   */
  answered(
    host: string,
    date: string | undefined,
    ageHeader: string | undefined,
    sentAtMs: number,
    firstByteAtMs: number,
  ): void;
  /**
   * Our clock less that of most venues, and how far off that may be; null while fewer than three hosts agree, or no
   * majority does.
   */
  read(): ClockError | null;
}

export interface Clocks {
  /** Milliseconds since 1970. It may be set at any time, which the other is not. */
  wallMs(): number;
  monotonicMs(): number;
}

/** Our clock less the host's lies between them, as of an instant of the monotonic clock. */
interface Bounds {
  lowMs: number;
  highMs: number;
  atMs: number;
}

const fewestHosts = 3;

/** Of a second: a quartz is off by 1e-4 at most, and ntpd corrects by at most 5e-4. */
const drift = 6e-4;

/** Servers write the second by a timer, and our own wall clock counts whole milliseconds. */
const slackMs = 25;

/** The wall clock was set, or the machine slept, where the two clocks part by more. */
const jumpMs = 5;

/** A host that was silent for longer has nothing to say any more. */
const keepMs = 10 * 60_000;

/** A reading holds for as long: streams ask for it with each event. */
const readAgainMs = 1000;

/**
 * Compares this machine's clock with the Date headers of many hosts.
 *
 * A stamp of whole seconds D, made between sending and the first byte, says that our clock less the host's is above
 * `sent − D − 1000` and not above `first byte − D`. Many of them at different parts of the second narrow that down to
 * little more than the way's own time. A host whose clock is wrong is outvoted: the reading spans all that a majority
 * of the hosts hold for possible, and so has the truth in it whenever a majority is right.
 */
export function makeClockWatch(clocks: Clocks = systemClocks): ClockWatch {
  const boundsOf = new Map<string, Bounds>();
  let partMs = clocks.wallMs() - clocks.monotonicMs();
  let jumpedAtMs = -Infinity;
  let latest: { reading: ClockError | null; untilMs: number } | null = null;

  /** Whether the wall clock was set or the machine slept does not show: both are held for possible. */
  function look(): { wallMs: number; nowMs: number } {
    const wallMs = clocks.wallMs();
    const nowMs = clocks.monotonicMs();
    const movedMs = Math.abs(wallMs - nowMs - partMs);
    if (movedMs > jumpMs) {
      partMs = wallMs - nowMs;
      jumpedAtMs = nowMs;
      latest = null;
      for (const bounds of boundsOf.values()) {
        bounds.lowMs -= movedMs;
        bounds.highMs += movedMs;
      }
    }
    return { wallMs, nowMs };
  }

  function read(nowMs: number): ClockError | null {
    for (const [host, { atMs }] of boundsOf) if (nowMs - atMs > keepMs) boundsOf.delete(host);
    // Until it is read again, it must stay true.
    const all = [...boundsOf.values()].map((bounds) => asOf(bounds, nowMs + readAgainMs));
    return agreed(all, Math.max(fewestHosts, Math.floor(all.length / 2) + 1));
  }

  return {
    answered(host, date, ageHeader, sentAtMs, firstByteAtMs) {
      const { wallMs, nowMs } = look();
      const stampMs = stampOf(date);
      // What names an age comes from a cache, and its date with it.
      if (stampMs === null || ageHeader !== undefined) return;
      const sentMs = nowMs - (wallMs - sentAtMs);
      if (!(sentMs > jumpedAtMs && sentAtMs <= firstByteAtMs)) return;
      const said = {
        lowMs: sentAtMs - stampMs - 1000 - slackMs,
        highMs: firstByteAtMs - stampMs + slackMs,
        atMs: nowMs,
      };
      const known = boundsOf.get(host);
      boundsOf.set(host, (known && both(asOf(known, nowMs), said)) ?? said);
    },
    read() {
      const { nowMs } = look();
      if (!latest || nowMs >= latest.untilMs) latest = { reading: read(nowMs), untilMs: nowMs + readAgainMs };
      return latest.reading;
    },
  };
}

const systemClocks: Clocks = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

/** As RFC 9110 has it, and no other form: what is written otherwise is a stranger's work. */
const httpDate =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d\d:\d\d:\d\d GMT$/;

export function stampOf(date: string | undefined): number | null {
  if (date === undefined || !httpDate.test(date)) return null;
  const stampMs = Date.parse(date);
  return Number.isNaN(stampMs) ? null : stampMs;
}

/** The two clocks may have drifted apart since. */
function asOf({ lowMs, highMs, atMs }: Bounds, nowMs: number): Bounds {
  const driftMs = (nowMs - atMs) * drift;
  return { lowMs: lowMs - driftMs, highMs: highMs + driftMs, atMs: nowMs };
}

/**
 * Null where they exclude each other: the host's clock was set, or others answer in its name. Then the newer one
 * counts.
 */
function both(a: Bounds, b: Bounds): Bounds | null {
  const lowMs = Math.max(a.lowMs, b.lowMs);
  const highMs = Math.min(a.highMs, b.highMs);
  return lowMs > highMs ? null : { lowMs, highMs, atMs: b.atMs };
}

/** After Marzullo: from the least to the greatest that at least so many hold for possible. */
function agreed(all: readonly Bounds[], quorum: number): ClockError | null {
  const ends = all
    .flatMap(({ lowMs, highMs }) => [
      { atMs: lowMs, opens: true },
      { atMs: highMs, opens: false },
    ])
    .sort((a, b) => a.atMs - b.atMs || Number(b.opens) - Number(a.opens));
  let open = 0;
  let lowMs: number | null = null;
  let highMs: number | null = null;
  for (const { atMs, opens } of ends) {
    if (open >= quorum && !opens) highMs = atMs;
    open += opens ? 1 : -1;
    if (open >= quorum) lowMs ??= atMs;
  }
  if (lowMs === null || highMs === null) return null;
  return { errorMs: (lowMs + highMs) / 2, withinMs: (highMs - lowMs) / 2 };
}
