import type { Fault } from "../../../shared/measurement/sample.js";
import type { State } from "../words.js";
import { lookOf } from "./state-rank.js";

/** Outlines on a square of 16: a circle, a triangle, a square and a hollow diamond, told apart without colour. */
export const signOutlines: Record<State, string> = {
  operational: "M8 2a6 6 0 1 0 0 12a6 6 0 1 0 0-12z",
  degraded: "M8 1l7.5 13.5h-15z",
  outage: "M1.5 1.5h13v13h-13z",
  unknown: "M8 1.5l6.5 6.5l-6.5 6.5l-6.5-6.5z",
};

/** The shape of a state, without its word. */
export function Sign({ state }: { state: State }) {
  return (
    <svg class={`sign ${state}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={signOutlines[state]} />
    </svg>
  );
}

/** A state as shape and word. */
export function StateWord({ state, fault = null }: { state: State; fault?: Fault | null }) {
  const look = lookOf(state, fault);
  return (
    <span class="state">
      <Sign state={look.state} />
      {look.word}
    </span>
  );
}
