import { chainCadence, type ReadChain } from "../../shared/registry/chain-venues.js";
import { chainComponent } from "../../shared/registry/components.js";
import type { Venue } from "../../shared/registry/registry.js";
import { nothingMeasured } from "../rest/measurement.js";
import type { ChainHeads } from "../rest/chain-heads.js";
import type { Counterpart } from "../stream/counterpart.js";
import type { Task } from "./schedule.js";

/**
 * The task of a chain. It sends no requests, because this probe asks the chain's providers anyway. Other venues have no
 * such task.
 */
export function chainTasks({ id, chain, heads: reading }: Venue, heads: Pick<ChainHeads, "goesOn">): Task[] {
  if (!reading || chain === null) return [];
  return [
    {
      venue: id,
      component: chainComponent,
      cadenceMs: reading.cadenceMs,
      measure() {
        const goesOn = heads.goesOn(chain, performance.now());
        if (goesOn === null) return { unmeasured: "provider" };
        return goesOn ? { ...nothingMeasured, good: true } : { ...nothingMeasured, fault: "stale" };
      },
    },
  ];
}

/**
 * A counterpart made of the heads that a chain's providers report: they show whether a stream of blocks has something
 * to send.
 */
export function chainCounterpart(
  { chain }: Pick<Venue, "chain">,
  chains: ReadonlyMap<string, ReadChain>,
  heads: Pick<ChainHeads, "wentOn">,
): Pick<Counterpart, "cadenceMs" | "wentOn"> | null {
  const read = chain === null ? undefined : chains.get(chain);
  const cadenceMs = read ? chainCadence(read) : null;
  if (cadenceMs === null) return null;
  return { cadenceMs, wentOn: ({ atMs }) => heads.wentOn(chain!, atMs) };
}
