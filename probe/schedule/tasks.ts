import { type EventLoopWatch, tolerableMs } from "../../shared/process/event-loop-watch.js";
import { chainCadence, type ReadChain } from "../../shared/registry/chain-venues.js";
import { chainComponent } from "../../shared/registry/components.js";
import type { RestEndpoint, Venue } from "../../shared/registry/registry.js";
import type { ChainHeads } from "../measure/chain.js";
import type { Counterpart } from "../measure/counterpart.js";
import { nothingMeasured } from "../measure/measurement.js";
import type { AgeVerdict } from "../measure/rest/age-verdict.js";
import type { Rest } from "../measure/rest/rest.js";
import { hashOf, type Task } from "./schedule.js";

/**
 * The REST endpoints of one venue, as tasks for the schedule. Measurements across a standstill of this process are
 * withheld.
 *
 * @param verdictOn judges the age of an endpoint's data; absent: any age is good
 */
export function restTasks(
  venue: Venue,
  rest: Rest,
  watch: EventLoopWatch,
  verdictOn?: (endpoint: RestEndpoint) => AgeVerdict,
): Task[] {
  return venue.rest.map((endpoint, place) => {
    const measure = rest.endpoint(endpoint, verdictOn?.(endpoint));
    const isFresh = makeFreshConnectionShare(endpoint, place);
    return {
      venue: venue.id,
      component: `rest:${endpoint.name}`,
      cadenceMs: endpoint.cadenceMs,
      async measure(slotAt, signal) {
        const startMs = performance.now();
        const outcome = await measure(signal, isFresh(slotAt));
        return watch.stalledSince(startMs, tolerableMs.answer) ? { unmeasured: "starved" } : outcome;
      },
    };
  });
}

/**
 * One slot in this many opens a new connection, so that the probe sees faults that only new clients meet (a missing
 * name, an expired certificate) while kept-alive connections still work. At a cadence of five seconds that is once a
 * minute for an endpoint, and less load than one reader with a browser.
 */
export const freshEvery = 12;

/** Coprime to `freshEvery`: the endpoints of an origin take turns, as far apart as possible. */
const turnStride = 5;

/**
 * Whether a slot of an endpoint uses a new connection. The result is the same after a restart, and in every process.
 *
 * @param place of the endpoint among those of its venue
 */
export function makeFreshConnectionShare(
  { url, cadenceMs }: { url: string; cadenceMs: number },
  place: number,
): (slotAt: Date) => boolean {
  // the hash spreads the turns of the venues
  const turn = (hashOf(new URL(url).origin) + place * turnStride) % freshEvery;
  return (slotAt) => Math.floor(+slotAt / cadenceMs) % freshEvery === turn;
}

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
