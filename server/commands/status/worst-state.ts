import type { StateWord } from "../../mcp/agent-source.js";

/**
 * The exit codes of `status`. `check` uses the same for what the service says, so that scripts read both alike.
 */
export const stateCodes: Record<StateWord, number> = { operational: 0, degraded: 1, outage: 2, unknown: 3 };

/** Worst first: an unknown state hides no trouble of others, and is never taken for operational. */
const worstFirst: readonly StateWord[] = ["outage", "degraded", "unknown", "operational"];

/** The worst of some states; `unknown` if there are none. */
export function worstOf(states: readonly StateWord[]): StateWord {
  return worstFirst.find((state) => states.includes(state)) ?? "unknown";
}

/** Orders by state, the worst first. */
export function byState(one: { state: StateWord }, other: { state: StateWord }): number {
  return worstFirst.indexOf(one.state) - worstFirst.indexOf(other.state);
}
