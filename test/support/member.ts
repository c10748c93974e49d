import { randomUUID } from "node:crypto";
import { type Pool, sql } from "../../shared/database/pool.js";
import { packagedFile } from "../../shared/config/package.js";
import { watchedVenues } from "../../shared/registry/chain-venues.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import { sendHeartbeat, endLease, type ProbeReport } from "../../probe/venue-lease.js";

const usual = watchedVenues(await loadRegistry(packagedFile("registry/all.json"))).map(({ id }) => id);

/** A probe of us-east, as the database sees it. */
export interface Member {
  process: string;
  /** The venues of its newest lease. */
  venues: string[];
  renew(mayTakeOver?: boolean, forMs?: number): Promise<void>;
  leave(): Promise<void>;
}

export function member(pool: Pool, given: Partial<ProbeReport> = {}): Member {
  const report: ProbeReport = {
    ...{ region: "us-east", process: randomUUID(), version: "1.2.3", startedAt: new Date() },
    ...{ unmeasured: {}, troubles: [], clock: null, known: usual, vantage: null, machine: null },
    ...given,
  };
  const self: Member = {
    process: report.process,
    venues: [],
    async renew(mayTakeOver = true, forMs) {
      self.venues = (await sendHeartbeat(pool, report, mayTakeOver, forMs)) ?? [];
    },
    async leave() {
      await endLease(pool, report.region, self.process);
      self.venues = [];
    },
  };
  return self;
}

/** Makes its lease expire. */
export async function forgetAt(pool: Pool, process: string): Promise<void> {
  await pool.query(sql`update probe set alive_until = now() - interval '1 millisecond' where process = ${process}`);
}
