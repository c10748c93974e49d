/**
 * Pauses of origins that limit or block our requests. Venues do so by the client's address, so a pause applies to all
 * endpoints of an origin.
 *
 * A pause that the venue asked for is its doing, and its slots count. One that we choose, because the venue has not said
 * how long to wait, is ours: its slots are not measured. It only spaces the requests: after each pause, the origin is
 * asked again.
 */
import type { Fault } from "../../shared/measurement/sample.js";
import { makeRefusalBackoff, refusalsBeforePause, type Backoff } from "../stream/backoff.js";
import { unservedBy, type MeasurementOutcome } from "./measurement.js";

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
  servedTimes: number;
}

/** The venue answers us, whatever it says. */
const served: ReadonlySet<Fault | null> = new Set([null, "stale", "halted"]);

export function makePauses(now: () => number = () => performance.now()): Pauses {
  const origins = new Map<string, Origin>();

  function originOf(name: string): Origin {
    const known = origins.get(name);
    if (known) return known;
    const origin = { askedUntilMs: -Infinity, chosen: makeChosenPause(now), servedTimes: 0 };
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

  function isAsked() {
    return now() < origin.askedUntilMs;
  }

  function isChosen() {
    return origin.chosen.lasts() || own.lasts();
  }

  function onLimited(askedMs: number) {
    if (askedMs > 0) origin.askedUntilMs = Math.max(origin.askedUntilMs, now() + askedMs);
    else if (!isAsked()) origin.chosen.begin();
  }

  /** While the origin serves other addresses, it has banned only this one: the others are not paused. */
  function onBlocked() {
    if (refusals === 0) servedBefore = origin.servedTimes;
    refusals += 1;
    if (refusals < refusalsBeforePause) return;
    const isServingOthers = origin.servedTimes > servedBefore;
    servedBefore = origin.servedTimes;
    (isServingOthers ? own : origin.chosen).begin();
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
      if (fault === "blocked") return onBlocked();
      refusals = 0;
      if (fault === "limited") onLimited(askedMs);
      else if (served.has(fault)) onServed();
    },
  };
}

interface ChosenPause {
  lasts(): boolean;
  begin(): void;
  end(): void;
}

/** Longer each time, until a request is served. */
function makeChosenPause(now: () => number): ChosenPause {
  const lengths: Backoff = makeRefusalBackoff();
  let untilMs = -Infinity;
  const lasts = () => now() < untilMs;

  return {
    lasts,
    begin() {
      // an answer to a request that was already in flight is not a second refusal
      if (!lasts()) untilMs = now() + lengths.nextMs();
    },
    end() {
      // neither does such an answer end a pause
      if (!lasts()) lengths.reset();
    },
  };
}
