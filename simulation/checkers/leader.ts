/**
 * One core leads at a time: no instant is decided twice, nor by a core whose lease another has taken. The leader stays
 * unless something happens to it, or to the database.
 */
import type { Cluster } from "../cluster.js";
import { isTouched } from "../ledger.js";

/** A lease lasts two seconds, and a core that is held up may take it back. */
const reasonMs = 15_000;

export function checkLeader({ ledger, cores }: Cluster): Promise<string[]> {
  const decisions = ledger.decisions.toSorted((a, b) => +a.instant - +b.instant || a.fence - b.fence);
  const problems = decisions.flatMap(({ core, instant, fence }, place) => {
    const before = decisions[place - 1];
    if (!before) return [];
    const at = `${core} decided ${instant.toISOString()} with the fence ${fence}`;
    if (+before.instant === +instant) return [`${at}, as ${before.core} with ${before.fence}`];
    return fence < before.fence ? [`${at}, but ${before.core} led with ${before.fence} before it`] : [];
  });
  const reasons = ["database", ...cores.map(({ name }) => name)].flatMap((name) => ledger.periods.get(name) ?? []);
  const idle = decisions.flatMap(({ core, instant, fence }, place) => {
    const before = decisions[place - 1];
    if (!before || fence === before.fence) return [];
    const fromMs = +before.instant - reasonMs;
    return isTouched(reasons, fromMs, +instant + reasonMs)
      ? []
      : [`${core} took the lease of ${before.core} before ${instant.toISOString()} without a reason`];
  });
  return Promise.resolve(decisions.length === 0 ? ["no core has decided anything"] : [...problems, ...idle]);
}
