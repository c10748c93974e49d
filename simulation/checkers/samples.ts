/**
 * The database stores the samples that the probes took: no acknowledged sample is missing, none was invented or
 * changed, and only samples that a killed process had only in memory may be missing.
 */
import { type Pool, sql } from "../../shared/database/pool.js";
import type { Cluster } from "../cluster.js";
import { isTouched, type Period, type Taken } from "../ledger.js";

/** The newest samples are on their way. */
const underWayMs = 10_000;

/** Memory holds samples for 100 ms, and then the disk takes some time. */
const inMemoryMs = 250;
/** The operating system writes to the disk within half a minute. */
const unsyncedMs = 31_000;
/** A disk that works again gets the samples that wait in memory within this time. */
const retriedMs = 3_000;

interface StoredSample {
  key: string;
  fault: string | null;
  latency_us: number | null;
}

export async function checkSamples({ ask, ledger, nowMs }: Cluster): Promise<string[]> {
  const settledMs = nowMs() - underWayMs;
  // more are acknowledged while the database reads
  const acknowledged = [...ledger.acknowledged];
  const stored = new Map((await ask(readStored)).map((row) => [row.key, row]));
  const missing = acknowledged.filter((key) => !stored.has(key));
  const lost = [...ledger.taken].filter(([key, takers]) => !stored.has(key) && !takers.every(mayBeLost));
  const invented = [...stored.values()].filter((row) => !(ledger.taken.get(row.key) ?? []).some(isAs(row)));

  function mayBeLost({ probe, atMs }: Taken): boolean {
    if (atMs > settledMs) return true;
    const troubles = ledger.periods.get(probe) ?? [];
    const during = (what: string, fromMs: number, toMs: number) =>
      isTouched(
        troubles.filter((one) => one.what === what),
        fromMs,
        toMs,
      );
    const lostWith = ({ what, fromMs, toMs }: Period) => {
      // it still measures while it ends
      const endsMs = what === "restart" ? toMs : fromMs;
      if (endsMs < atMs) return false;
      if (what === "power") return fromMs - atMs < unsyncedMs;
      // a process that stands still writes nothing; while the disk takes no writes, samples wait in memory
      const isHeld = during("pause", atMs, atMs + inMemoryMs) || during("disk", atMs, atMs + inMemoryMs);
      if (what === "restart") return isHeld && stillHeld(atMs, endsMs);
      return what === "down" && (fromMs - atMs < inMemoryMs || (isHeld && stillHeld(atMs, fromMs)));
    };
    const stillHeld = (fromMs: number, toMs: number) =>
      troubles.some(
        (one) =>
          (one.what === "pause" || one.what === "disk") &&
          one.fromMs <= fromMs + inMemoryMs &&
          one.toMs >= toMs - retriedMs,
      );
    return troubles.some(lostWith);
  }

  return [
    ...missing.map((key) => `acknowledged, but not stored: ${key}`),
    ...lost.map(([key, [first]]) => `taken by ${first!.probe}, but not stored: ${key}`),
    ...invented.map(({ key }) => `stored, but never taken like this: ${key}`),
  ];
}

function isAs({ fault, latency_us }: StoredSample) {
  return ({ sample }: Taken) => sample.fault === fault && sample.latencyUs === latency_us;
}

function readStored(pool: Pool): Promise<StoredSample[]> {
  return pool.query(sql`
    select
      region || ' ' || venue || ' ' || component || ' ' || to_char(ts, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as key,
      fault, latency_us
    from sample
    join component using (component_id)
    join venue using (venue_id)
    join region using (region_id)
  `);
}
