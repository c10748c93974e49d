/** Our own faults are on no venue: each bad sample has a fault of its venue, or of the way there, at that time. */
import { sql } from "../../shared/database/pool.js";
import type { Cluster } from "../cluster.js";
import { isTouched, type Period } from "../ledger.js";
import { hasCounterpart } from "../venue.js";

/** A stream's slot looks back over its stall threshold, and a reconnecting socket needs some backoff. */
const beforeMs = { stream: 90_000, rest: 1_000 };
/** A request that fails began at its slot, and ends within its timeout. */
const afterMs = 6_000;
/** The slots of a probe whose clock is wrong are of another time; it may take so long until it notices. */
const clockMs = 60_000;
/** A silence of all hosts up to this length may be chance (probe/network/own-network.ts). */
const chanceMs = 8_000;
/** Without the database, a probe waits so long for its share of the venues until it asks any host. */
const startsMs = 5_000;

interface BadSample {
  venue: string;
  component: string;
  region: string;
  ts: Date;
  fault: string;
}

export async function checkBlame({ ask, ledger, probes }: Cluster): Promise<string[]> {
  const bad = await ask((pool) =>
    pool.query<BadSample>(sql`
      select venue, component, region, ts, fault
      from sample
      join component using (component_id)
      join venue using (venue_id)
      join region using (region_id)
      where fault is not null
      order by ts
    `),
  );

  function isExcused({ venue, component, region, ts }: BadSample): boolean {
    const isRest = component.startsWith("rest:");
    const here = probes.filter((one) => one.region === region).map(({ name }) => name);
    const ways = here.map((name) => `${name} ${venue}`);
    const ofProbes = here.flatMap((name) => ledger.periods.get(name) ?? []);
    const shortCuts = here.flatMap((name) => cutsThatSeemShort(ledger.periods.get(name) ?? []));
    const wrongClocks = ofProbes.filter(({ what }) => what === "clock");
    if (isTouched(wrongClocks, +ts - clockMs, +ts + clockMs)) return true;
    const faults = [...shortCuts, ...[venue, ...ways].flatMap((of) => ledger.periods.get(of) ?? [])];
    const able = faults.filter(({ what }) => {
      if (what === "quiet stream") return !isRest;
      // a rate that is documented says that there are trades
      return what !== "quiet market" || (!isRest && !hasCounterpart(venue));
    });
    return isTouched(able, +ts - (isRest ? beforeMs.rest : beforeMs.stream), +ts + afterMs);
  }

  return bad
    .filter((sample) => !isExcused(sample))
    .map(
      ({ venue, component, region, ts, fault }) =>
        `blamed without a fault: ${venue} ${component} from ${region} at ${ts.toISOString()}: ${fault}`,
    );
}

/** A probe that starts while it is cut off sees less of the cut. */
function cutsThatSeemShort(periods: readonly Period[]): Period[] {
  return periods.filter(({ what, fromMs, toMs }) => {
    const starts = periods.filter(
      (one) => ["down", "power"].includes(one.what) && one.toMs > fromMs && one.toMs < toMs,
    );
    const seenFromMs = Math.max(fromMs, ...starts.map((one) => one.toMs + startsMs));
    return what === "cut" && toMs - seenFromMs < chanceMs;
  });
}
