import { type Db, type Pool, sql } from "../../shared/database/pool.js";
import { schemaState } from "../database/schema-state.js";
import { UserError } from "../../shared/process/user-error.js";
import { isTimed, type Part } from "./part.js";

/** What is read: see `sql/queries/move_source.sql`. */
export interface MoveSource {
  identity: string;
  state: string;
  rawFrom: Date | null;
}

/** Tables that a migration fills, most of them from the registry: the rows of the source take their place. */
const filledByMigration = ["region", "venue", "component", "official_source", "regions_published", "rollups_made"];

/**
 * Finds the source ready to be read.
 *
 * @param isOurs nobody else can be connected, whatever leases that were not handed over say
 * @throws UserError where it is of another schema, or where the service runs
 */
export async function readSource(db: Db, isOurs: boolean): Promise<MoveSource> {
  const { missing, unknown } = await schemaState(db);
  if (missing.length + unknown.length > 0)
    throw new UserError(
      "a move needs a database of this build's schema to read from, but it " +
        (unknown.length > 0
          ? `has ${unknown.join(", ")}, which this build does not know; use the build that made it`
          : `lacks ${missing.join(", ")}; let this build migrate it first (venuewatch migrate, or venuewatch up)`),
    );
  const identity = await identityOf(db);
  const [row] = await db.file<Omit<MoveSource, "identity"> & { busy: string[] }>("move_source");
  const { busy, ...source } = row!;
  if (busy.length > 0 && !isOurs)
    throw new UserError(
      `the database that is read from must not change, but the service runs on it: ${busy.join("; ")}. ` +
        "Stop core and the probes, wait for a quarter of a minute, and start this again",
    );
  return { identity, ...source };
}

/** @returns when the move was finished; "begun" or "empty" where it was not */
export async function readTarget(db: Db, source: MoveSource): Promise<Date | "begun" | "empty"> {
  const [here] = await db.file<{ isOurs: boolean; isMarked: boolean }>("move_target");
  if (here!.isOurs && (await identityOf(db)) === source.identity)
    throw new UserError("--to: this is the database that would be moved, or a copy of it; name an empty one");
  if (!here!.isMarked) return "empty";
  const [state] = await db.query<{
    identity: string;
    state: string;
    finished_at: Date | null;
  }>(sql`select identity, state, finished_at from moving.state`);
  if (state!.identity !== source.identity)
    throw new UserError("--to: something else was moved into this database; name an empty one");
  if (state!.finished_at) return state!.finished_at;
  refuseChanged(state!.state, source.state);
  return "begun";
}

/** @throws UserError where the source is not as it was when the move began */
export function refuseChanged(before: string, now: string): void {
  if (before === now) return;
  throw new UserError(
    "the database that is read from has changed since the move began, so that what was moved is not all of it. " +
      "Stop whatever writes to it, make the target anew (drop and create its database), and start again",
  );
}

/** @throws UserError where there is more in it than a migration leaves */
export async function refuseFilled(db: Db, parts: Part[]): Promise<void> {
  for (const part of parts) {
    if (filledByMigration.includes(part.part)) continue;
    const [row] = await db.text<{ filled: boolean }>(`select exists (select from ${part.writes}) as filled`, []);
    if (row!.filled)
      throw new UserError(
        `--to: this database has a history of its own (${part.part} has rows), and two cannot be put together; name an empty one`,
      );
  }
}

/**
 * Lets roll-ups be complete up to a time, while they are still empty: what is written there afterwards stands by
 * itself, and no refresh looks for what it was made from. What comes after is rolled up at the end, from samples that
 * are there.
 */
export async function sealHistory(pool: Pool, parts: Part[], to: Date): Promise<void> {
  for (const { kind, reads } of parts.filter(isTimed))
    if (kind === "rollup")
      await pool.query(sql`call refresh_continuous_aggregate(${reads}::regclass, null, ${to}::timestamptz)`);
}

async function identityOf(db: Db): Promise<string> {
  const [row] = await db.file<{ identity: string }>("move_identity");
  return row!.identity;
}
