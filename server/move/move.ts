import { type Db, type Pool, sql } from "../../shared/database/pool.js";
import type { Log } from "../../shared/log/log.js";
import { migrate } from "../database/migrate.js";
import type { Registry } from "../../shared/registry/registry.js";
import { advance, compress, copyByTime, doneUntil } from "./by-time.js";
import { readSource, readTarget, refuseChanged, refuseFilled, sealHistory, type MoveSource } from "./endpoints.js";
import { isTimed, partsOf } from "./part.js";
import { copyTables, mark } from "./tables.js";
import { compare, type Verified, verifiedParts } from "./verify.js";

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
  if (found === "empty") await begin(options, read);

  const [state] = await target.query<{ verified: boolean }>(
    sql`select verified_at is not null as verified from moving.state`,
  );
  if (!state!.verified) await copyAndVerify(options, read);
  await settle(options, read);
  await target.file("move_finish");
  return { verified: await verifiedParts(target), finishedBefore: null };
}

async function begin(options: MoveOptions, read: MoveSource): Promise<void> {
  const { source, target, registry, log } = options;
  // without venues and regions: those of the source are copied with their ids
  await migrate(target, { ...registry, venues: [], regions: [] }, log);
  const parts = await partsOf(target);
  await refuseFilled(target, parts);
  await mark(source, target, parts, read);
}

async function copyAndVerify(options: MoveOptions, read: MoveSource): Promise<void> {
  const { source, target } = options;
  const parts = await partsOf(target);
  const rawFrom = read.rawFrom ?? new Date();
  if (!(await isAnythingDone(target))) await sealHistory(target, parts, rawFrom);
  const onWindow = stepper(options, "copying");
  for (const part of parts.filter(isTimed)) await copyByTime(part, { source, target, rawFrom, onWindow });
  const timed = await compare(source, target, parts.filter(isTimed), stepper(options, "comparing"));
  stepper(options, "tables")("", 0);
  await copyTables(source, target, parts, timed, async () => {
    const { state } = await readSource(source, options.sourceIsOurs);
    refuseChanged(read.state, state);
  });
}

/**
 * Rolls up the copied samples, day by day. Afterwards the roll-ups also contain what the source had not rolled up yet,
 * and the target regards every bucket as complete. Then compresses the chunks that are due.
 */
async function settle(options: MoveOptions, read: MoveSource): Promise<void> {
  const { target } = options;
  const step = "rolled up";
  const stepped = stepper(options, "rolling up");
  const now = new Date();
  const from = read.rawFrom ?? now;
  let doneTo = await doneUntil(target, step);
  for (let ms = +(doneTo ?? from); ms < +now;) {
    stepped("", (ms - +from) / (+now - +from));
    const to = new Date(Math.min(Math.floor(ms / dayMs + 1) * dayMs, +now));
    await target.query(sql`call upkeep.refresh_all(${new Date(ms)}, ${to})`);
    await advance(target, step, doneTo, to);
    doneTo = to;
    ms = +to;
  }
  stepper(options, "compressing")("", 0);
  await compress(target, now);
  await target.script("analyze");
}

async function isAnythingDone(target: Db): Promise<boolean> {
  const [row] = await target.query<{ done: boolean }>(sql`select exists (select from moving.done) as done`);
  return row!.done;
}

/** Reports the progress of a step, and ends the move there if the signal has stopped it. */
function stepper({ signal, onProgress }: MoveOptions, step: string) {
  return (part: string, share: number) => {
    if (signal?.aborted) throw new Stopped();
    onProgress?.(part === "" ? step : `${step} ${part}`, share);
  };
}
