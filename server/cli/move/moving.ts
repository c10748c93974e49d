import { type Db, type Pool, sql } from "../../../shared/database/pool.js";
import type { Log } from "../../../shared/log/log.js";
import { UserError } from "../../../shared/process/user-error.js";
import type { Registry } from "../../../shared/registry/registry.js";
import { migrate } from "../../database/migrate.js";
import { schemaState } from "../../database/schema-state.js";
import { noteProgress, compressChunks, copyByTime, copyTables, doneUntil, markBegun } from "./copy.js";
import { type Part, isTimed, type MoveSource } from "./parts.js";
import { compareParts, type Verified, verifiedParts } from "./verify.js";

const dayMs = 86_400_000;

export interface MoveOptions {
  /** One connection is enough. */
  source: Pool;
  /** Whether no other program can be connected to the source. */
  sourceIsOurs: boolean;
  target: Pool;
  registry: Registry;
  log: Log;
  signal?: AbortSignal;
  /** @param share of the step, from 0 to 1 */
  onProgress?: (step: string, share: number) => void;
}

export interface Moved {
  verified: Verified[];
  /** When an earlier run finished the move; null if this run did. */
  finishedBefore: Date | null;
}

/** The signal has stopped the move. The next run continues it. */
class Stopped extends Error {}

/**
 * Copies everything to an empty database, or continues an earlier move into it, however that one ended.
 *
 * The target records the progress. The stages are: nothing done; started; some windows of the samples, then of each
 * roll-up, copied; every table copied and everything verified; rolled up and compressed; finished.
 *
 * @returns null if the signal has stopped it
 * @throws UserError if one of the databases cannot be used for this move, or if they differ in the end
 */
export async function move(options: MoveOptions): Promise<Moved | null> {
  try {
    return await moveOn(options);
  } catch (error) {
    if (error instanceof Stopped) return null;
    throw error;
  }
}

async function moveOn(options: MoveOptions): Promise<Moved> {
  const { source, target, sourceIsOurs } = options;
  const read = await readSource(source, sourceIsOurs);
  const found = await readTarget(target, read);
  if (found instanceof Date) return { verified: await verifiedParts(target), finishedBefore: found };
  if (found === "empty") await beginMove(options, read);

  const [state] = await target.query<{ verified: boolean }>(
    sql`select verified_at is not null as verified from moving.state`,
  );
  if (!state!.verified) await copyAndVerify(options, read);
  await settleTarget(options, read);
  await target.file("move_finish");
  return { verified: await verifiedParts(target), finishedBefore: null };
}

async function beginMove(options: MoveOptions, read: MoveSource): Promise<void> {
  const { source, target, registry, log } = options;
  // without venues and regions: those of the source are copied with their ids
  await migrate(target, { ...registry, venues: [], regions: [] }, log);
  const parts = await partsOf(target);
  await refuseFilled(target, parts);
  await markBegun(source, target, parts, read);
}

async function copyAndVerify(options: MoveOptions, read: MoveSource): Promise<void> {
  const { source, target } = options;
  const parts = await partsOf(target);
  const rawFrom = read.rawFrom ?? new Date();
  if (!(await isAnythingDone(target))) await sealHistory(target, parts, rawFrom);
  const onWindow = progressOf(options, "copying");
  for (const part of parts.filter(isTimed)) await copyByTime(part, { source, target, rawFrom, onWindow });
  const timed = await compareParts(source, target, parts.filter(isTimed), progressOf(options, "comparing"));
  progressOf(options, "tables")("", 0);
  await copyTables(source, target, parts, timed, async () => {
    const { state } = await readSource(source, options.sourceIsOurs);
    refuseChanged(read.state, state);
  });
}

/**
 * Rolls up the copied samples, day by day. Afterwards the roll-ups also contain what the source had not rolled up yet,
 * and the target regards every bucket as complete. Then compresses the chunks that are due.
 */
async function settleTarget(options: MoveOptions, read: MoveSource): Promise<void> {
  const { target } = options;
  const step = "rolled up";
  const stepped = progressOf(options, "rolling up");
  const now = new Date();
  const from = read.rawFrom ?? now;
  let doneTo = await doneUntil(target, step);
  for (let ms = +(doneTo ?? from); ms < +now;) {
    stepped("", (ms - +from) / (+now - +from));
    const to = new Date(Math.min(Math.floor(ms / dayMs + 1) * dayMs, +now));
    await target.query(sql`call upkeep.refresh_all(${new Date(ms)}, ${to})`);
    await noteProgress(target, step, doneTo, to);
    doneTo = to;
    ms = +to;
  }
  progressOf(options, "compressing")("", 0);
  await compressChunks(target, now);
  await target.script("analyze");
}

async function isAnythingDone(target: Db): Promise<boolean> {
  const [row] = await target.query<{ done: boolean }>(sql`select exists (select from moving.done) as done`);
  return row!.done;
}

/** Reports the progress of a step, and ends the move there if the signal has stopped it. */
function progressOf({ signal, onProgress }: MoveOptions, step: string) {
  return (part: string, share: number) => {
    if (signal?.aborted) throw new Stopped();
    onProgress?.(part === "" ? step : `${step} ${part}`, share);
  };
}

/** @param target the database that is written to: its columns are those of this build */
function partsOf(target: Db): Promise<Part[]> {
  return target.file<Part>("move_parts");
}

/** Tables that a migration fills, most of them from the registry. The rows of the source replace theirs. */
const filledByMigration = [
  ...["region", "venue", "component", "feed", "regions_published", "added_up"],
  ...["components_published", "feed_identity", "feed_address", "entry_salt", "component_entry"],
  ...["transfer_asset", "transfer_network", "transfer_spelling", "transfer_source", "transfer_address"],
  "transfer_window",
];

/**
 * Checks that the source is ready to be read.
 *
 * @param isOurs no other program can be connected, even if leases that were not released have not expired yet
 * @throws UserError if the source has another schema, or if the service runs on it
 */
async function readSource(db: Db, isOurs: boolean): Promise<MoveSource> {
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
async function readTarget(db: Db, source: MoveSource): Promise<Date | "started" | "empty"> {
  const [here] = await db.query<{ isOurs: boolean; isMarked: boolean }>(sql`
    select
      to_regclass('venuewatch.migration') is not null as "isOurs",
      to_regclass('moving.state') is not null as "isMarked"
  `);
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
function refuseChanged(before: string, now: string): void {
  if (before === now) return;
  throw new UserError(
    "the source has changed since the move began, so the copy would be incomplete. " +
      "Stop everything that writes to the source, drop and create the target database, and start over",
  );
}

/** @throws UserError if the target contains more than a migration inserts */
async function refuseFilled(db: Db, parts: Part[]): Promise<void> {
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
async function sealHistory(pool: Pool, parts: Part[], to: Date): Promise<void> {
  for (const { kind, reads } of parts.filter(isTimed))
    if (kind === "rollup")
      await pool.query(sql`call refresh_continuous_aggregate(${reads}::regclass, null, ${to}::timestamptz)`);
}

async function identityOf(db: Db): Promise<string> {
  // no two databases were migrated at the same microseconds
  const [row] = await db.query<{ identity: string }>(
    sql`select md5(string_agg(name || checksum || applied_at::text, ',' order by name)) as identity from migration`,
  );
  return row!.identity;
}
