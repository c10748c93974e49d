/** Mutants of chapter 2 of the rule book, typical latency. */
import type { Mutant } from "./mutant.js";

export const ofTypicalLatency: Mutant[] = [
  {
    breaks: "a typical latency applies from its boundary instead of ten minutes later",
    file: "engine/020-typical-latency.sql",
    found: "return date_bin('6 hours', at - interval '10 minutes', 'epoch')",
    becomes: "return date_bin('6 hours', at, 'epoch')",
    noticedBy: ["2-from-ten-past"],
  },
  {
    breaks: "the typical latency is computed twice a day",
    file: "engine/020-typical-latency.sql",
    found: "date_bin('6 hours'",
    becomes: "date_bin('12 hours'",
    noticedBy: ["2-from-ten-past"],
  },
  {
    breaks: "the typical latency is a mean",
    file: "engine/020-typical-latency.sql",
    found: "percentile_cont(0.5) within group (order by h.p50_us)",
    becomes: "avg(h.p50_us)",
    noticedBy: ["2-six-hours"],
  },
];
