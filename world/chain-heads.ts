import type { RestEndpoint, Venue } from "../shared/registry/registry.js";
import type { FaultKind, ScriptedFault } from "./faults.js";

// The head of each chain in the world, the same for all its providers, and the faults by which a provider names
// another.

/** The kinds that only venues with a chain can have. */
export const ofChains: readonly FaultKind[] = ["lags", "head-back", "chain-stands"];

/** An unlisted chain has the pace of Ethereum. */
const blockMs: Record<string, number> = { ethereum: 12_000, solana: 400 };

/** Returns the chain's newest block or slot at an instant in Unix milliseconds. */
export function headAt(chain: string | null, ms: number): number {
  return Math.floor(ms / (blockMs[chain ?? ""] ?? 12_000));
}

/**
 * Returns the distance from the true head to the head that an answer names.
 *
 * @param turn the number of this answer for its endpoint and region, counted from zero
 */
export function blocksOff(fault: ScriptedFault | undefined, turn: number): number {
  switch (fault?.kind) {
    case "lags":
      return -(fault.blocks ?? 3);
    case "head-back":
      return turn % 2 === 0 ? 0 : -(fault.blocks ?? 3);
    default:
      return 0;
  }
}

/** Whether an answer stands still with its chain: other answers of the venue are not about blocks. */
export function standsWithChain({ kind }: ScriptedFault, { category, chain }: Venue, endpoint: RestEndpoint): boolean {
  return kind === "chain-stands" && chain !== null && (category === "rpc" || endpoint.head !== undefined);
}
