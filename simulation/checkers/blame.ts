/**
 * No venue is blamed for our own faults: each bad sample has a fault of its venue, or of the way there, at that time.
 */
import { sql } from "../../shared/database/pool.js";
import type { Cluster } from "../cluster.js";
import { isTouched, keyOf, type Period } from "../ledger.js";
import { hasCounterpart, headComponent } from "../venue.js";

/** A stream's slot looks back over its stall threshold, and a reconnecting socket needs some backoff. */
const beforeMs = { stream: 90_000, rest: 1_000 };
/** A chain goes on as soon as one of its providers was asked again; some may fail. */
const chainBeforeMs = 20_000;
/** A request that fails began at its slot, and ends within its timeout. */
const afterMs = 6_000;
/** The slots of a probe whose clock is wrong belong to another time; it may take this long to notice. */
const clockMs = 60_000;
/** A silence of all hosts up to this length may be chance (probe/network/own-network.ts). */
const chanceMs = 8_000;
/** Without the database, a probe waits this long for its share of the venues before it asks any host. */
const startsMs = 5_000;

interface BadSample {
  venue: string;
  component: string;
  region: string;
  ts: Date;
  fault: string;
  latency_us: number | null;
}

export async function checkBlame({ ask, ledger, chain }: Cluster): Promise<string[]> {
  const bad = await ask((pool) =>
    pool.query<BadSample>(sql`
      select venue, component, region, ts, fault, latency_us
      from sample
      join component using (component_id)
      join venue using (venue_id)
      join region using (region_id)
      where fault is not null
      order by ts
    `),
  );

  function isExcused(bad: BadSample): boolean {
    const takers = ledger.taken.get(keyOf(bad.region, { ...bad, slotAt: bad.ts })) ?? [];
    return takers
      .filter(({ sample }) => sample.fault === bad.fault && sample.latencyUs === bad.latency_us)
      .some(({ probe }) => isExcusedFor(probe, bad));
  }

  function isExcusedFor(probe: string, { venue, component, ts }: BadSample): boolean {
    const isRest = component.startsWith("rest:");
    const ofProbe = ledger.periods.get(probe) ?? [];
    const wrongClocks = ofProbe.filter(({ what }) => what === "clock");
    if (isTouched(wrongClocks, +ts - clockMs, +ts + clockMs)) return true;
    const faults = [venue, `${probe} ${venue}`].flatMap((of) => ledger.periods.get(of) ?? []);
    const able = [...cutsThatSeemShort(ofProbe), ...faults.filter(({ what }) => canCause(what, component, venue))];
    const answeredMs = venue === chain.name ? chainBeforeMs : beforeMs.rest;
    return isTouched(able, +ts - (isRest ? answeredMs : beforeMs.stream), +ts + afterMs);
  }

  return bad
    .filter((sample) => !isExcused(sample))
    .map(
      ({ venue, component, region, ts, fault }) =>
        `blamed without a fault: ${venue} ${component} from ${region} at ${ts.toISOString()}: ${fault}`,
    );
}

function canCause(what: string, component: string, venue: string): boolean {
  // its providers are not to blame: only the chain has such a period
  if (what === "stand") return true;
  if (what === "lag") return component === headComponent;
  const isRest = component.startsWith("rest:");
  if (what === "quiet stream") return !isRest;
  // a rate that is documented says that there are trades
  if (what === "quiet market") return !isRest && !hasCounterpart(venue);
  return isRest || !["errors", "slow", "nonsense", "limit", "ban", "halt"].includes(what);
}

/** A probe that starts while it is cut off sees less of the cut. */
function cutsThatSeemShort(periods: readonly Period[]): Period[] {
  return periods.filter(({ what, fromMs, toMs }) => {
    const starts = periods.filter(
      (one) => ["down", "power", "restart"].includes(one.what) && one.toMs > fromMs && one.toMs < toMs,
    );
    const seenFromMs = Math.max(fromMs, ...starts.map((one) => one.toMs + startsMs));
    return what === "cut" && toMs - seenFromMs < chanceMs;
  });
}
