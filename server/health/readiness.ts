import type { Pool } from "../../shared/database/pool.js";
import type { Readiness } from "./health.js";
import { replicaCheck, replicaState } from "../database/replica.js";
import { definitionsFault, schemaState } from "../database/schema-state.js";

/**
 * Whether this program can do its work: the database is reachable, its schema is that of this build, and the engine
 * decides.
 *
 * @param ofReplica whether the database is meant to be a replica; if so, its lag is checked, too
 */
export async function readiness(pool: Pool, ofReplica = false): Promise<Readiness> {
  const checks: Readiness["checks"] = {
    database: { ok: false, detail: "not reached" },
    schema: { ok: false, detail: "unknown while the database is unreachable" },
    engine: { ok: false, detail: "unknown while the database is unreachable" },
    ...(ofReplica && {
      replica: { ok: false, detail: "unknown while the database is unreachable" },
    }),
  };
  try {
    checks.schema = await schemaCheck(pool);
    checks.database = { ok: true, detail: "reachable" };
    checks.engine = checks.schema.ok
      ? await engineCheck(pool)
      : { ok: false, detail: "unknown until the schema is current" };
    if (ofReplica)
      checks.replica = checks.schema.ok
        ? replicaCheck(await replicaState(pool))
        : { ok: false, detail: "unknown until the schema is current" };
  } catch (error) {
    // the message could name hosts and users: this page is public
    const { code } = error as NodeJS.ErrnoException;
    checks.database = {
      ok: false,
      detail: `did not answer${code ? ` (${code})` : ""}`,
    };
  }
  return { ready: Object.values(checks).every(({ ok }) => ok), checks };
}

async function schemaCheck(pool: Pool) {
  const { missing, unknown } = await schemaState(pool);
  if (missing.length > 0)
    return {
      ok: false,
      detail: `lacks ${missing.join(", ")}: run venuewatch migrate`,
    };
  if (unknown.length > 0)
    return {
      ok: false,
      detail: `is newer than this build: it has ${unknown.join(", ")}`,
    };
  const fault = await definitionsFault(pool);
  if (fault !== null)
    return {
      ok: false,
      detail: `${fault}; run venuewatch migrate of the build whose programs are to run`,
    };
  return { ok: true, detail: "current" };
}

interface EngineClock {
  ticked_at: Date | null;
  fresh: boolean;
  ahead: boolean;
}

async function engineCheck(pool: Pool) {
  const [clock] = await pool.file<EngineClock>("readiness");
  const ticked = clock?.ticked_at?.toISOString();
  if (!clock || !ticked) return { ok: false, detail: "has never ticked" };
  if (clock.fresh) return { ok: true, detail: `last tick ${ticked}` };
  const detail = clock.ahead
    ? `its last tick ${ticked} is ahead of the database's clock, so it decides nothing before then: every state reads unknown`
    : `silent since ${ticked}: every state reads unknown`;
  return { ok: false, detail };
}
