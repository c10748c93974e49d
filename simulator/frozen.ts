/** The one event that is sent again and again while a fault lasts that freezes it. */
import { startOf, type ScriptedFault } from "./faults.js";
import type { Tick } from "./market.js";

/**
 * @param fault one that freezes, in progress
 * @returns the event to send: while the fault is in progress, the event of its beginning, the same for every client;
 * otherwise the one that `make` makes
 */
export type Freeze = (fault: ScriptedFault | undefined, at: Date, make: () => Tick) => Tick;

export function makeFreeze(): Freeze {
  const held = new WeakMap<ScriptedFault, { fromMs: number; tick: Tick }>();
  return (fault, at, make) => {
    if (!fault) return make();
    const fromMs = startOf(fault, at);
    const known = held.get(fault);
    if (known?.fromMs === fromMs) return known.tick;
    const now = make();
    const tick = fromMs === -Infinity ? now : { ...now, ms: fromMs };
    held.set(fault, { fromMs, tick });
    return tick;
  };
}
