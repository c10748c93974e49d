import type { Fault } from "../../../shared/measurement/sample.js";
import { limitedWord, type State, stateWords } from "../words.js";

export function isTrouble(state: State): boolean {
  return state === "degraded" || state === "outage";
}

/** Worst first. */
export function rank(state: State): number {
  return ["outage", "degraded", "unknown", "operational"].indexOf(state);
}

/** How a state looks and reads. A venue that limits our requests answers: it is never red, nor called down. */
export function lookOf(state: State, fault: Fault | null): { state: State; word: string } {
  const isLimited = fault === "limited" && isTrouble(state);
  return isLimited ? { state: "degraded", word: limitedWord } : { state, word: stateWords[state] };
}

/** What all of a venue's components in trouble have in common; null: they have several faults, or there are none. */
export function commonFault(components: readonly { state: State; fault: Fault | null }[]): Fault | null {
  const troubled = components.filter(({ state }) => isTrouble(state));
  const [first] = troubled;
  return first !== undefined && troubled.every(({ fault }) => fault === first.fault) ? first.fault : null;
}
