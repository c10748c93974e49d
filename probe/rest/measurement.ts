import type { Fault, Sample } from "../../shared/measurement/sample.js";
import type { UnmeasuredReason } from "../../shared/measurement/unmeasured.js";

/** A sample but for its place: what one measurement found. */
export type Measurement = Omit<Sample, "venue" | "component" | "slotAt" | "lateMs">;

export interface Unmeasured {
  unmeasured: UnmeasuredReason;
}

export type MeasurementOutcome = Measurement | Unmeasured;

export function isUnmeasured(value: object): value is Unmeasured {
  return "unmeasured" in value;
}

/** Starts every measurement: each kind fills in what it has. */
export const nothingMeasured: Measurement = {
  good: false,
  fault: null,
  refusal: null,
  unserved: null,
  latencyUs: null,
  dnsUs: null,
  connectUs: null,
  tlsUs: null,
  firstByteUs: null,
  fresh: null,
  certificateExpiresAt: null,
  httpStatus: null,
  head: null,
  clockErrorMs: null,
  clockErrorWithinMs: null,
  messages: null,
  quietMs: null,
  eventAgeMs: null,
  sequenceGaps: null,
};

/** The venue prevented the slot, by this. */
export function unservedBy(fault: Fault): Measurement {
  return { ...nothingMeasured, fault, unserved: true };
}

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
  "clockErrorMs",
  "clockErrorWithinMs",
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
