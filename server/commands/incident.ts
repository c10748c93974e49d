import type { Entry } from "../cli/command.js";

export const help = `Corrects incidents.`;

export const actions: Record<string, Entry> = {
  retract: {
    summary: "retract a false incident",
    load: () => import("./incident/retract.js"),
  },
};
