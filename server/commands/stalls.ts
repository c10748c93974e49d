import type { Entry } from "../cli/command.js";

export const help = `A stream that is silent longer than its stall threshold has stalled.`;

export const actions: Record<string, Entry> = {
  measure: {
    summary: "measure how long streams are silent, and propose thresholds",
    load: () => import("./stalls/measure.js"),
  },
};
