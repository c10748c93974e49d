/**
 * One core leads at a time: no instant is decided twice, nor by a core whose lease another has taken. The leader stays
 * unless something happens to it, or to the database.
 */
import type { Cluster } from "../cluster.js";

export function checkLeader({ ledger, cores }: Cluster): Promise<string[]> {
  const decisions = ledger.decisions.toSorted((a, b) => +a.instant - +b.instant || a.fence - b.fence);
  const problems = decisions.flatMap(({ core, instant, fence }, place) => {
    const before = decisions[place - 1];
    if (!before) return [];
    const at = `${core} decided ${instant.toISOString()} with the fence ${fence}`;
    if (+before.instant === +instant) return [`${at}, as ${before.core} with ${before.fence}`];
    return fence < before.fence ? [`${at}, but ${before.core} led with ${before.fence} before it`] : [];
  });
  const failovers = new Set(decisions.map(({ fence }) => fence)).size - 1;
  const reasons = ["database", ...cores.map(({ name }) => name)].flatMap((name) => ledger.periods.get(name) ?? []);
  // a core that is held up may take the lease back
  if (failovers > 2 * reasons.length)
    problems.push(`the leader changed ${failovers} times for ${reasons.length} reasons`);
  return Promise.resolve(decisions.length === 0 ? ["no core has decided anything"] : problems);
}
