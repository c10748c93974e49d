/** A venue that limits or bans us is asked rarely, and is asked again when that is over. */
import type { Cluster } from "../cluster.js";
import type { Period, Taken } from "../ledger.js";

/** The faults of samples by which a probe learns of each. */
const faults: Record<string, string> = { limit: "limited", ban: "blocked" };

/** The shortest pause that a probe chooses, and how many refusals in a row begin one. */
const shortestPauseMs = 30_000;
const refusalsBefore = 3;

export function refusals(periods: readonly Period[] = []): Period[] {
  return periods.filter(({ what }) => what in faults);
}

export function checkPauses({ registry, probes, ledger }: Cluster): Promise<string[]> {
  const taken = [...ledger.taken.values()].flat();
  const problems = registry.venues.flatMap(({ id, rest }) =>
    refusals(ledger.periods.get(id)).flatMap((period) => {
      const most = rest.length * (refusalsBefore + Math.ceil((period.toMs - period.fromMs) / shortestPauseMs));
      const refused = taken.filter((one) => isRefused(one, id, period));
      return probes.flatMap(({ name }) => {
        const asked = refused.filter(({ probe }) => probe === name).length;
        const afterStarts = restarts(ledger.periods.get(name), period) * rest.length * refusalsBefore;
        return asked <= most + afterStarts
          ? []
          : [`${name} asked ${id} ${asked} times in a ${period.what} of ${period.toMs - period.fromMs} ms`];
      });
    }),
  );
  return Promise.resolve(problems);
}

function isRefused({ sample }: Taken, venue: string, { what, fromMs, toMs }: Period): boolean {
  const slotMs = +sample.slotAt;
  return sample.venue === venue && sample.fault === faults[what] && slotMs >= fromMs && slotMs <= toMs;
}

/** A process that was started again knows of no pause. */
function restarts(periods: readonly Period[] = [], { fromMs, toMs }: Period): number {
  return periods.filter(
    (one) => ["down", "power", "restart"].includes(one.what) && one.toMs > fromMs && one.fromMs < toMs,
  ).length;
}
