/** What stands still while the fault `frozen` lasts: one event, told again and again. */
import { begunAt, type ScriptedFault } from "./faults.js";
import type { Tick } from "./market.js";

/**
 * @returns the event to tell of: where the fault is under way that of its beginning, whoever asks, else the one that
 * `make` makes
 */
export type Freeze = (fault: ScriptedFault | undefined, at: Date, make: () => Tick) => Tick;

export function makeFreeze(): Freeze {
  const held = new WeakMap<ScriptedFault, { fromMs: number; tick: Tick }>();
  return (fault, at, make) => {
    if (fault?.kind !== "frozen") return make();
    const fromMs = begunAt(fault, at);
    const known = held.get(fault);
    if (known?.fromMs === fromMs) return known.tick;
    const now = make();
    const tick = fromMs === -Infinity ? now : { ...now, ms: fromMs };
    held.set(fault, { fromMs, tick });
    return tick;
  };
}
