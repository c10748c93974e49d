/** What became of one sending. */
export interface DeliveryOutcome {
  /**
   * `delivered`: a status of 2xx in time, and after it all of the answer, or more than we read. `refused`: another
   * status. `timeout`: not all of the answer in time; a 2xx whose body drips, or stops without an end, is one, since
   * who answers so is as likely to have failed meanwhile. `unreachable`: no answer, a broken one, no TLS. `unsafe`:
   * nothing was sent, because of where it would have gone. `ours`: we cannot say that the receiver did anything wrong.
   */
  result: "delivered" | "refused" | "timeout" | "unreachable" | "unsafe" | "ours";
  /** Null where none came. */
  status: number | null;
  /** One line, with nothing of the letter but its host; null of what is delivered. */
  error: string | null;
  durationMs: number;
  /** Its beginning, at most 1,000 characters, no control characters but line ends; null where there is nothing. */
  answer: string | null;
  /**
   * How long a receiver that refused wants to be left alone, ten minutes at the most; null where it did not say. Of
   * `ours` 0 where it is certain, and null where it may be the receiver's doing all the same: its name server's, or its
   * network's.
   */
  retryAfterMs: number | null;
}

/** What is not said is null, and how long it took is for others to say. */
export type Ending = Pick<DeliveryOutcome, "result"> & Partial<Omit<DeliveryOutcome, "durationMs">>;
