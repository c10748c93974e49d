/** How states compare, look and read, and what faults of components have in common. */
import type { Fault } from "../../../shared/measurement/sample.js";
import { t } from "./language.js";
import { type State, stateWords } from "./words.js";

export function isTrouble(state: State): boolean {
  return state === "degraded" || state === "outage";
}

/** Worst first. */
export function stateRank(state: State): number {
  return ["outage", "degraded", "unknown", "operational"].indexOf(state);
}

/** How a state looks and reads. Limits alone make nothing worse than degraded, so an outage has other reasons, too. */
export function lookOf(state: State, fault: Fault | null): { state: State; word: string } {
  return { state, word: isOnlyLimiting(state, fault) ? t`Limits our requests` : stateWords[state] };
}

/** A venue that limits our requests answers: that is its trouble, and it is not called degraded. */
export function isOnlyLimiting(state: State, fault: Fault | null): boolean {
  return state === "degraded" && fault === "limited";
}

/** What a region sees of a component. Of one that was never good, or has ended, bad samples say nothing. */
export function seenState(state: State, unknownBecause: { reason: string } | null): State {
  return isUnjudged(unknownBecause) ? "unknown" : state;
}

export function isUnjudged(unknownBecause: { reason: string } | null): boolean {
  return unknownBecause?.reason === "never" || unknownBecause?.reason === "ended";
}

/** What all of a venue's components in trouble have in common; null: they have several faults, or there are none. */
export function commonFault(components: readonly { state: State; fault: Fault | null }[]): Fault | null {
  const troubled = components.filter(({ state }) => isTrouble(state));
  const [first] = troubled;
  return first !== undefined && troubled.every(({ fault }) => fault === first.fault) ? first.fault : null;
}
