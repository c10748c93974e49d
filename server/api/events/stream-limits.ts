/** How many event streams may be open at a time. */
export interface StreamLimits {
  /** Of one client address. */
  perAddress: number;
  /** Of this process. */
  total: number;
}

/** Twenty streams are an office behind one address. */
export const streamLimits: StreamLimits = { perAddress: 20, total: 12_000 };
