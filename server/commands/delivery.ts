import type { Entry } from "../cli/command.js";

export const help = `What became of each alert: one delivery is one event for one channel. Kept for 90 days.`;

export const actions: Record<string, Entry> = {
  list: {
    summary: "list deliveries, newest first",
    load: () => import("./delivery/list.js"),
  },
  show: {
    summary: "show one delivery with every attempt",
    load: () => import("./delivery/show.js"),
  },
  replay: {
    summary: "send some again now",
    load: () => import("./delivery/replay.js"),
  },
};
