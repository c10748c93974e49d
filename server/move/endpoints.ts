import { type Db, type Pool, sql } from "../../shared/database/pool.js";
import { schemaState } from "../database/schema-state.js";
import { UserError } from "../../shared/process/user-error.js";
import { isTimed, type Part } from "./part.js";

/** The state of the source database: see `sql/queries/move_source.sql`. */
export interface MoveSource {
  identity: string;
  state: string;
  rawFrom: Date | null;
}

/** Tables that a migration fills, most of them from the registry. The rows of the source replace theirs. */
const filledByMigration = [
  ...["region", "venue", "component", "feed", "regions_published", "added_up"],
  ...["components_published", "feed_identity", "feed_address", "entry_salt", "component_entry"],
];

/**
 * Checks that the source is ready to be read.
 *
 * @param isOurs no other program can be connected, even if leases that were not released have not expired yet
 * @throws UserError if the source has another schema, or if the service runs on it
 */
export async function readSource(db: Db, isOurs: boolean): Promise<MoveSource> {
  const { missing, unknown } = await schemaState(db);
  if (missing.length + unknown.length > 0)
    throw new UserError(
      "the source of a move must have the schema of this build, but it " +
        (unknown.length > 0
          ? `has ${unknown.join(", ")}, which this build does not know; use the build that created it`
          : `lacks ${missing.join(", ")}; let this build migrate it first (venuewatch migrate, or venuewatch up)`),
    );
  const identity = await identityOf(db);
  const [row] = await db.file<Omit<MoveSource, "identity"> & { busy: string[] }>("move_source");
  const { busy, ...source } = row!;
  if (busy.length > 0 && !isOurs)
    throw new UserError(
      `the source must not change during the move, but the service runs on it: ${busy.join("; ")}. ` +
        "Stop core and the probes, wait for 15 seconds, and run this again",
    );
  return { identity, ...source };
}

/** @returns when the move was finished; "started" or "empty" if it was not */
export async function readTarget(db: Db, source: MoveSource): Promise<Date | "started" | "empty"> {
  const [here] = await db.file<{ isOurs: boolean; isMarked: boolean }>("move_target");
  if (here!.isOurs && (await identityOf(db)) === source.identity)
    throw new UserError("--to: this is the source database or a copy of it; name an empty one");
  if (!here!.isMarked) return "empty";
  const [state] = await db.query<{
    identity: string;
    state: string;
    finished_at: Date | null;
  }>(sql`select identity, state, finished_at from moving.state`);
  if (state!.identity !== source.identity)
    throw new UserError("--to: another database was moved into this one; name an empty one");
  if (state!.finished_at) return state!.finished_at;
  refuseChanged(state!.state, source.state);
  return "started";
}

/** @throws UserError if the source has changed since the move began */
export function refuseChanged(before: string, now: string): void {
  if (before === now) return;
  throw new UserError(
    "the source has changed since the move began, so the copy would be incomplete. " +
      "Stop everything that writes to the source, drop and create the target database, and start over",
  );
}

/** @throws UserError if the target contains more than a migration inserts */
export async function refuseFilled(db: Db, parts: Part[]): Promise<void> {
  for (const part of parts) {
    if (filledByMigration.includes(part.part)) continue;
    const [row] = await db.text<{ filled: boolean }>(`select exists (select from ${part.writes}) as filled`, []);
    if (row!.filled)
      throw new UserError(
        `--to: this database already has a history (${part.part} has rows), and histories are not merged; name an empty one`,
      );
  }
}

/**
 * Marks the roll-ups as complete up to a time, while they are still empty: no refresh will look for the samples of the
 * rows that are copied into them afterwards. Later buckets are rolled up at the end, from samples that are in the
 * target.
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
