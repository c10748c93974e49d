import type { State } from "../words.js";

export function isTrouble(state: State): boolean {
  return state === "degraded" || state === "outage";
}

/** Worst first. */
export function rank(state: State): number {
  return ["outage", "degraded", "unknown", "operational"].indexOf(state);
}
