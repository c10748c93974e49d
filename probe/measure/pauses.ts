/**
 * Pauses of origins that limit or block our requests. Venues do so by the client's address, so a pause applies to all
 * endpoints of an origin.
 *
 * A pause that the venue asked for is its doing, and its slots count. One that we choose, because the venue has not
 * said how long to wait, is ours: its slots are not measured. It only spaces the requests: after each pause, each
 * address of the origin is asked again, once, even if the first of them is refused again.
 */
import type { Fault } from "../../shared/measurement/sample.js";
import { type MeasurementOutcome, unservedBy } from "./measurement.js";

export interface Pauses {
  /** The pauses of one address. Those of an origin are shared by its addresses. */
  of: (origin: string) => AddressPauses;
}

export interface AddressPauses {
  /** The outcome of a slot in which the address must not be asked; null: it may be. */
  skipped: () => MeasurementOutcome | null;
  /**
   * Must be called for each answer, and each failure that is not our own.
   *
   * @param askedMs the pause that a limiting answer asks for; 0 if it names none
   */
  answered: (fault: Fault | null, askedMs: number) => void;
}

interface Origin {
  askedUntilMs: number;
  chosen: ChosenPause;
  /** The pause applies to addresses with this many refusals in a row. */
  refusalsBefore: number;
  servedTimes: number;
}

/** The venue answers us, whatever it says. */
const servedFaults: ReadonlySet<Fault | null> = new Set([null, "stale", "halted"]);

export function makePauses(now: () => number = () => performance.now()): Pauses {
  const origins = new Map<string, Origin>();

  function originOf(name: string): Origin {
    const known = origins.get(name);
    if (known) return known;
    const origin = { askedUntilMs: -Infinity, chosen: makeChosenPause(now), refusalsBefore: 0, servedTimes: 0 };
    origins.set(name, origin);
    return origin;
  }

  return {
    of: (name) => makeAddressPauses(originOf(name), now),
  };
}

function makeAddressPauses(origin: Origin, now: () => number): AddressPauses {
  const own = makeChosenPause(now);
  let refusals = 0;
  let servedBefore = 0;
  let answeredMs = -Infinity;

  function isAsked() {
    return now() < origin.askedUntilMs;
  }

  function isChosen() {
    return own.lasts() || (origin.chosen.lasts() && isOfPause());
  }

  /**
   * After refusals, each address is asked as often as it takes to confirm a fault. Otherwise the first one would pause
   * the others before that. Which one is first differs between regions, so the regions might never agree.
   */
  function isOfPause() {
    return refusals >= origin.refusalsBefore && answeredMs >= origin.chosen.precedingEndMs();
  }

  function onLimited(askedMs: number) {
    if (askedMs > 0) origin.askedUntilMs = Math.max(origin.askedUntilMs, now() + askedMs);
    else if (!isAsked()) onRefused(1);
  }

  /** While the origin serves other addresses between two refusals, it refuses only this one: the others go on. */
  function onRefused(untilPause: number) {
    const isServingOthers = refusals > 0 && origin.servedTimes > servedBefore;
    refusals += 1;
    if (refusals === 1 || refusals >= untilPause) servedBefore = origin.servedTimes;
    if (refusals < untilPause) return;
    if (isServingOthers) return own.begin();
    if (!origin.chosen.lasts()) origin.refusalsBefore = untilPause === 1 ? 0 : untilPause;
    origin.chosen.begin();
  }

  function onServed() {
    origin.servedTimes += 1;
    own.end();
    origin.chosen.end();
  }

  return {
    skipped() {
      if (isAsked()) return unservedBy("limited");
      return isChosen() ? { unmeasured: "paused" } : null;
    },
    answered(fault, askedMs) {
      answeredMs = now();
      if (fault === "blocked") return onRefused(refusalsBeforePause);
      if (fault === "limited") return onLimited(askedMs);
      refusals = 0;
      if (servedFaults.has(fault)) onServed();
    },
  };
}

interface ChosenPause {
  lasts(): boolean;
  /** When the pause before this one ended. */
  precedingEndMs(): number;
  begin(): void;
  end(): void;
}

/** Longer each time, until a request is served. */
function makeChosenPause(now: () => number): ChosenPause {
  const lengths: Backoff = makeRefusalBackoff();
  let untilMs = -Infinity;
  let precedingEndMs = -Infinity;
  const lasts = () => now() < untilMs;

  return {
    lasts,
    precedingEndMs: () => precedingEndMs,
    begin() {
      // an answer to a request that was already in flight is not a second refusal
      if (lasts()) return;
      precedingEndMs = untilMs;
      untilMs = now() + lengths.nextMs();
    },
    end() {
      // neither does such an answer end a pause
      if (!lasts()) lengths.reset();
    },
  };
}

/**
 * A compromise: attempts must not burden a venue that is down, but its slots are bad until the probe has reconnected.
 * Four or five attempts a minute are within the strictest venue's limit (15 a minute and address at Kraken), even for
 * three probes at one address.
 */
const usualDelays = { firstMs: 1000, longestMs: 20_000 };

/**
 * For a venue that limits or blocks us without saying for how long: further requests may prolong a ban. The longest
 * delay is also how late we may notice that it serves us again.
 */
const refusalDelays = { firstMs: 30_000, longestMs: 2 * 60_000 };

/**
 * This many refusals (403, 451) in a row are no accident of a firewall, and they are enough to confirm the fault: the
 * next attempts wait as after a rate limit.
 */
export const refusalsBeforePause = 3;

interface Backoff {
  /** The delay before the next attempt. It doubles each time, minus a random part of up to a half. */
  nextMs: () => number;
  reset: () => void;
}

export function makeBackoff(random: () => number = Math.random, { firstMs, longestMs } = usualDelays): Backoff {
  let attempts = 0;
  return {
    nextMs() {
      const fullMs = Math.min(firstMs * 2 ** attempts, longestMs);
      attempts += 1;
      return Math.round(fullMs * (1 - random() / 2));
    },
    reset() {
      attempts = 0;
    },
  };
}

/** The lengths of pauses that we choose ourselves; no part of them is random. */
export function makeRefusalBackoff(): Backoff {
  return makeBackoff(() => 0, refusalDelays);
}
