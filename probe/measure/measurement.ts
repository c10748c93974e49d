import type { Log } from "../../shared/log/log.js";
import type { Fault, Sample, UnmeasuredReason } from "../../shared/measurement/sample.js";

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
const narrowFields = [
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
const largestInteger = 2 ** 31 - 1;

/** Limits values that are too large for their columns to the largest that fits. */
export function fittedMeasurement(measurement: Measurement): Measurement {
  const fit = { ...measurement };
  for (const key of narrowFields) {
    const value = fit[key];
    if (value !== null) fit[key] = Math.max(-largestInteger, Math.min(value, largestInteger));
  }
  return fit;
}

const faultWords: Partial<Record<Fault, { begins: string; over: string }>> = {
  stall: { begins: "a stream is silent", over: "data is fresh again" },
  stale: { begins: "data is stale", over: "data is fresh again" },
  halted: {
    begins: "the venue says that it does not trade",
    over: "the venue no longer says that it does not trade",
  },
};

/** Logs when a component has one of these faults, and when that is over. Samples record every slot. */
export function makeVerdictLog(
  log: Log,
  of: { venue: string; component: string },
): (fault: Fault | null, why: Record<string, unknown>) => void {
  let logged: Fault | null = null;
  return (fault, why) => {
    const verdict = fault && faultWords[fault] ? fault : null;
    if (verdict === logged) return;
    if (verdict) log.warn(faultWords[verdict]!.begins, { ...of, ...why });
    else log.info(faultWords[logged!]!.over, of);
    logged = verdict;
  };
}
