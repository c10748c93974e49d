import type { Entry } from "../cli/command.js";

export const help = `What an operator does about incidents.`;

export const actions: Record<string, Entry> = {
  retract: {
    summary: "take back an incident that was none",
    load: () => import("./incident/retract.js"),
  },
};
