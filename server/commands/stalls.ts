import type { Entry } from "../cli/command.js";

export const help = `From when on the silence of a stream is a stall.`;

export const actions: Record<string, Entry> = {
  measure: {
    summary: "read off the samples how long streams are silent, and propose",
    load: () => import("./stalls/measure.js"),
  },
};
