/** A probe's clock compared with the venues' clocks. */
export interface ClockError {
  /** Our clock minus theirs, milliseconds. */
  errorMs: number;
  /** The true difference is within this many milliseconds of `errorMs`. */
  withinMs: number;
}

export interface ClockWatch {
  /**
   * Records an answer of a host. Times are this machine's wall clock in milliseconds: before the request was sent, and
   * when the first byte of the answer arrived.
   */
  answered(
    host: string,
    date: string | undefined,
    ageHeader: string | undefined,
    sentAtMs: number,
    firstByteAtMs: number,
  ): void;
  /**
   * Our clock minus that of most venues, and the maximum error of this difference; null while fewer than three hosts
   * agree, or no majority agrees.
   */
  read(): ClockError | null;
}

export interface Clocks {
  /** Milliseconds since 1970. Unlike the monotonic clock, it may be set at any time. */
  wallMs(): number;
  monotonicMs(): number;
}

/** Bounds of our clock minus the host's, as of an instant of the monotonic clock. */
interface Bounds {
  lowMs: number;
  highMs: number;
  atMs: number;
}

const fewestHosts = 3;

/**
 * How far the clocks of correct hosts may be off when no majority agrees. The bounds of hosts that answer quickly
 * become narrower than the differences of their clocks.
 */
const spreadMs = 1000;

/** Seconds per second: a quartz clock is off by at most 1e-4, and ntpd corrects by at most 5e-4. */
const driftRate = 6e-4;

/** Servers update the second of their Date header by a timer, and our wall clock counts whole milliseconds. */
const slackMs = 25;

/** If the two clocks diverge by more than this, the wall clock was set or the machine slept. */
const jumpMs = 5;

/** Hosts that were silent for longer are forgotten. */
const keepMs = 10 * 60_000;

/** How long a reading is cached: streams ask for it with each event. */
const readAgainMs = 1000;

/**
 * Compares this machine's clock with the Date headers of many hosts.
 *
 * A timestamp D of whole seconds, made between sending the request and the first byte of the answer, shows that our
 * clock minus the host's is above `sent − D − 1000` and not above `first byte − D`. Many timestamps at different parts
 * of the second narrow that down to little more than the travel time. A host whose clock is wrong is outvoted: the
 * reading spans every difference that a majority of the hosts considers possible, so it contains the true one whenever
 * a majority is right. Correct hosts that differ a little from each other make it wider instead of hiding that our
 * clock is wrong.
 */
export function makeClockWatch(clocks: Clocks = systemClocks): ClockWatch {
  const boundsOf = new Map<string, Bounds>();
  let partMs = clocks.wallMs() - clocks.monotonicMs();
  let jumpedAtMs = -Infinity;
  let latest: { reading: ClockError | null; untilMs: number } | null = null;

  /**
   * Detects that the two clocks diverged. Whether the wall clock was set or the machine slept cannot be seen, so the
   * bounds are widened to allow for both.
   */
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
    // The reading must stay true until it is refreshed.
    const all = [...boundsOf.values()].map((bounds) => asOf(bounds, nowMs + readAgainMs));
    const quorum = Math.max(fewestHosts, Math.floor(all.length / 2) + 1);
    return agreedError(all, quorum) ?? roughlyAgreedError(all, quorum);
  }

  return {
    answered(host, date, ageHeader, sentAtMs, firstByteAtMs) {
      const { wallMs, nowMs } = look();
      const stampMs = stampOf(date);
      // An answer with an Age header comes from a cache, and so does its date.
      if (stampMs === null || ageHeader !== undefined) return;
      const sentMs = nowMs - (wallMs - sentAtMs);
      if (!(sentMs > jumpedAtMs && sentAtMs <= firstByteAtMs)) return;
      const said = {
        lowMs: sentAtMs - stampMs - 1000 - slackMs,
        highMs: firstByteAtMs - stampMs + slackMs,
        atMs: nowMs,
      };
      const known = boundsOf.get(host);
      boundsOf.set(host, (known && intersection(asOf(known, nowMs), said)) ?? said);
    },
    read() {
      const { nowMs } = look();
      if (!latest || nowMs >= latest.untilMs) latest = { reading: read(nowMs), untilMs: nowMs + readAgainMs };
      return latest.reading;
    },
  };
}

/** Whether the clock is so wrong that a sample could get the key of another slot. */
export function exceedsTolerance(clockError: ClockError | null): boolean {
  return certainErrorMs(clockError) > tolerableClockErrorMs;
}

/**
 * A clock error that is certainly above this is reported. Smaller errors are harmless: ages of events are corrected for
 * them.
 */
export const reportedClockErrorMs = 500;

/** While the clock error is certainly above this, samples are withheld: they would occupy another slot's key. */
const tolerableClockErrorMs = 2_000;

/** Milliseconds by which the clock is wrong for certain; 0 or less: it may be right. */
export function certainErrorMs(clockError: ClockError | null): number {
  return clockError ? Math.abs(clockError.errorMs) - clockError.withinMs : 0;
}

const systemClocks: Clocks = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

/** The preferred form of RFC 9110 only: a date in another form may come from anything. */
const httpDate =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d\d:\d\d:\d\d GMT$/;

export function stampOf(date: string | undefined): number | null {
  if (date === undefined || !httpDate.test(date)) return null;
  const stampMs = Date.parse(date);
  return Number.isNaN(stampMs) ? null : stampMs;
}

/** Widens the bounds, because the two clocks may have drifted apart since. */
function asOf({ lowMs, highMs, atMs }: Bounds, nowMs: number): Bounds {
  return { ...widenedBounds({ lowMs, highMs, atMs }, (nowMs - atMs) * driftRate), atMs: nowMs };
}

function widenedBounds({ lowMs, highMs, atMs }: Bounds, byMs: number): Bounds {
  return { lowMs: lowMs - byMs, highMs: highMs + byMs, atMs };
}

/**
 * The intersection; null if it is empty, because the host's clock was set, or another server answers under its name.
 * Then the newer bounds count.
 */
function intersection(a: Bounds, b: Bounds): Bounds | null {
  const lowMs = Math.max(a.lowMs, b.lowMs);
  const highMs = Math.min(a.highMs, b.highMs);
  return lowMs > highMs ? null : { lowMs, highMs, atMs: b.atMs };
}

function roughlyAgreedError(all: readonly Bounds[], quorum: number): ClockError | null {
  const reading = agreedError(
    all.map((bounds) => widenedBounds(bounds, spreadMs)),
    quorum,
  );
  // each host of the quorum is within the spread of the reading, so one correct host suffices
  return reading && { ...reading, withinMs: reading.withinMs + spreadMs };
}

/** Marzullo's algorithm: from the smallest to the largest value that at least `quorum` bounds contain. */
function agreedError(all: readonly Bounds[], quorum: number): ClockError | null {
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
