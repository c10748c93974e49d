import type { Fault, Sample } from "../../shared/measurement/sample.js";
import type { UnmeasuredReason } from "../../shared/measurement/unmeasured.js";

/** The result of one measurement: a sample without its component and slot. */
export type Measurement = Omit<Sample, "venue" | "component" | "slotAt" | "lateMs">;

export interface Unmeasured {
  unmeasured: UnmeasuredReason;
}

export type MeasurementOutcome = Measurement | Unmeasured;

export function isUnmeasured(value: object): value is Unmeasured {
  return "unmeasured" in value;
}

/** The initial value of every measurement; each kind sets its own fields. */
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

/** The measurement of a slot that the venue prevented by this fault. */
export function unservedBy(fault: Fault): Measurement {
  return { ...nothingMeasured, fault, unserved: true };
}

/** Fields whose columns have 32 bits, enough for 36 minutes in microseconds or 25 days in milliseconds. */
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

/** Limits values that are too large for their columns to the largest that fits. */
export function fitted(measurement: Measurement): Measurement {
  const fit = { ...measurement };
  for (const key of narrow) {
    const value = fit[key];
    if (value !== null) fit[key] = Math.max(-largest, Math.min(value, largest));
  }
  return fit;
}
