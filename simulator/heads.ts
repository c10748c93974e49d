/** How high each chain stands in the world, for all its providers alike, and who among them says otherwise. */
import type { ScriptedFault } from "./faults.js";

/** A chain that is not listed has the pace of Ethereum. */
const blockMs: Record<string, number> = { ethereum: 12_000, solana: 400 };

/** Its newest block or slot at an instant, Unix milliseconds. */
export function headAt(chain: string | null, ms: number): number {
  return Math.floor(ms / (blockMs[chain ?? ""] ?? 12_000));
}

/**
 * How far from the true head the one is that an answer names.
 *
 * @param turn of the same endpoint and region, from zero
 */
export function blocksOff(fault: ScriptedFault | undefined, turn: number): number {
  switch (fault?.kind) {
    case "lags":
      return -(fault.blocks ?? 3);
    case "head-back":
      return turn % 2 === 0 ? 0 : -(fault.blocks ?? 3);
    case "false-head":
      return fault.blocks ?? 1e15;
    default:
      return 0;
  }
}
