/** The result of one attempt. */
export interface DeliveryOutcome {
  /**
   * `delivered`: a 2xx status in time, followed by the whole answer or by more than we read. `refused`: another status.
   * `timeout`: the answer was incomplete at the deadline; this includes a 2xx whose body trickles or stops, as the
   * receiver may well have failed after the status. `unreachable`: no answer, a broken one, or no TLS. `unsafe`:
   * nothing was sent, because the address is not allowed. `ours`: possibly our own fault, not the receiver's.
   */
  result: "delivered" | "refused" | "timeout" | "unreachable" | "unsafe" | "ours";
  /** Null where no status came. */
  status: number | null;
  /** One line, which shows only the host of the request; null when delivered. */
  error: string | null;
  durationMs: number;
  /** Its start: at most 1,000 characters, without control characters except line ends; null where there is none. */
  answer: string | null;
  /**
   * How long a receiver that refused asked us to wait, at most ten minutes; null where it did not ask. With `ours`: 0
   * where the fault is certainly ours, and null where it may still be the receiver's, such as its name server or
   * network.
   */
  retryAfterMs: number | null;
}

/** An outcome without its duration, which the caller adds; missing fields are null. */
export type Ending = Pick<DeliveryOutcome, "result"> & Partial<Omit<DeliveryOutcome, "durationMs">>;
