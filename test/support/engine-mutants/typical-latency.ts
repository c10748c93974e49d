/** Mutants of chapter 2 of the rule book, typical latency. */
import type { Mutant } from "./mutant.js";

export const ofTypicalLatency: Record<string, Mutant> = {
  "a typical latency applies from its boundary instead of ten minutes later": {
    clause: "return date_bin('6 hours', at - interval '10 minutes', 'epoch')",
    becomes: "return date_bin('6 hours', at, 'epoch')",
    noticedBy: ["2-from-ten-past"],
  },
  "the typical latency is computed twice a day": {
    clause: "date_bin('6 hours'",
    becomes: "date_bin('12 hours'",
    noticedBy: ["2-from-ten-past"],
  },
  "the typical latency is a mean": {
    clause: "percentile_cont(0.5) within group (order by h.p50_us)",
    becomes: "avg(h.p50_us)",
    noticedBy: ["2-six-hours"],
  },
};
