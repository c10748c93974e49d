import type { Sample } from "../server/sample.js";

/** A sample but for its place: what one measurement found. */
export type Measurement = Omit<
  Sample,
  "venue" | "component" | "slotAt" | "lateMs"
>;

/**
 * Why a slot has no sample. None of these is a word about the venue.
 *
 * - `overlap` the measurement before was still running
 * - `late` the slot came up far too late, or not at all: a busy process, a machine that slept
 * - `starved` this process stood still while it measured
 * - `resolver` no name resolves here, or there is no other name to compare with
 * - `network` no route, or no socket to be had on this machine
 * - `limited` the venue rations us, and has its pause
 * - `stale` a connection kept from earlier was closed just as it was used again
 * - `starting` a socket that was never open yet and has not failed either
 * - `subscribing` a stream that was not subscribed for the whole slot, its socket being down for instance
 * - `broken` a fault of the probe itself, logged as an error
 */
export const unmeasuredReasons = [
  "overlap",
  "late",
  "starved",
  "resolver",
  "network",
  "limited",
  "stale",
  "starting",
  "subscribing",
  "broken",
] as const;

export type UnmeasuredReason = (typeof unmeasuredReasons)[number];

export interface Unmeasured {
  unmeasured: UnmeasuredReason;
}

export type Outcome = Measurement | Unmeasured;

export function isUnmeasured(value: object): value is Unmeasured {
  return "unmeasured" in value;
}

/** Starts every measurement: each kind fills in what it has. */
export const nothingMeasured: Measurement = {
  good: false,
  fault: null,
  latencyUs: null,
  dnsUs: null,
  connectUs: null,
  tlsUs: null,
  firstByteUs: null,
  fresh: null,
  certificateExpiresAt: null,
  httpStatus: null,
  head: null,
  messages: null,
  quietMs: null,
  eventAgeMs: null,
  sequenceGaps: null,
};

/** Their columns hold 32 bits: microseconds come to 36 minutes, milliseconds to 25 days. */
const narrow = [
  "latencyUs",
  "dnsUs",
  "connectUs",
  "tlsUs",
  "firstByteUs",
  "messages",
  "quietMs",
  "eventAgeMs",
  "sequenceGaps",
] as const;
const largest = 2 ** 31 - 1;

/** A measurement as the database can hold it: what is too large for its column is the largest that fits. */
export function fitted(measurement: Measurement): Measurement {
  const fit = { ...measurement };
  for (const key of narrow) {
    const value = fit[key];
    if (value !== null) fit[key] = Math.max(-largest, Math.min(value, largest));
  }
  return fit;
}
