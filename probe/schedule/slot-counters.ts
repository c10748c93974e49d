import type { Log } from "../../shared/log/log.js";
import { unmeasuredReasons, type UnmeasuredReason } from "../../shared/measurement/unmeasured.js";

export type UnmeasuredCounts = { [reason in UnmeasuredReason]: number };

export interface SlotCounts {
  /** Samples since the start, including bad ones. */
  taken: number;
  /** Slots without a sample since the start, by reason. */
  unmeasured: UnmeasuredCounts;
  /** Scheduled time of the newest sample; null before the first. */
  newestSlotAt: Date | null;
}

const summaryEveryMs = 60_000;

/** Counts slots, and logs unmeasured ones once a minute: a line for each would drown the rest of the log. */
export function startSlotCounters(log: Log): {
  taken: (slotAt: Date) => void;
  unmeasured: (reason: UnmeasuredReason, slots: number) => void;
  status(): SlotCounts;
  close(): void;
} {
  let taken = 0;
  let newestSlotAt: Date | null = null;
  const unmeasured = noCounts();
  let sinceSummary = noCounts();
  const timer = setInterval(summarise, summaryEveryMs);

  function summarise() {
    const counts = Object.entries(sinceSummary).filter(([, slots]) => slots > 0);
    sinceSummary = noCounts();
    if (counts.length > 0) log.warn("slots not measured", Object.fromEntries(counts));
  }

  return {
    taken(slotAt) {
      taken += 1;
      newestSlotAt = slotAt;
    },
    unmeasured(reason, slots) {
      unmeasured[reason] += slots;
      sinceSummary[reason] += slots;
    },
    status: () => ({ taken, unmeasured: { ...unmeasured }, newestSlotAt }),
    close() {
      clearInterval(timer);
      summarise();
    },
  };
}

function noCounts(): UnmeasuredCounts {
  const zeros = unmeasuredReasons.map((reason) => [reason, 0]);
  return Object.fromEntries(zeros) as UnmeasuredCounts;
}
