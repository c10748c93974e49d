import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join, resolve } from "node:path";
import type { Pool } from "../../../shared/database/pool.js";
import type { Log } from "../../../shared/log/log.js";
import { DirectoryInUse, lockDirectory } from "../../../shared/process/directory-lock.js";
import { UserError } from "../../../shared/process/user-error.js";
import { type DatasetName, datasets, type Period, periodKept } from "../datasets.js";
import { unwritable } from "../output.js";
import type { Key, RecordFilter } from "../records.js";
import { periodThere, refuseUnknownVenue } from "../request.js";
import {
  noteOf,
  periodInResumeFile,
  removeResumeFile,
  requireSameExport,
  writeResumeFileOfPeriod,
} from "../resume-file.js";
import { tableOf } from "./columns.js";
import { readDataPackage, resourceOf, writeDataPackage, writeTableSchema } from "./data-package.js";
import { readFinishedFile } from "./finished-file.js";
import { type DatasetFolder, fileName, foldersOf, startOfFolder } from "./folders.js";
import { createParquetFile, type GrowingFile, type WrittenFile } from "./parquet-file.js";
import { sortedRecords } from "./sorted-records.js";
import { requireRoomFor } from "./room.js";

export interface DatasetOptions {
  /** The folder of the dataset, which is created where it is missing. */
  output: string;
  /** Whether to continue an export that was interrupted. */
  resume: boolean;
  log: Log;
  signal: AbortSignal;
  /** @param share of the period, from 0 to 1 */
  onProgress?: (share: number) => void;
  /** Smaller files and row groups, for tests. */
  limits?: FileLimits;
}

export interface FileLimits {
  groupRows: number;
  fileRows: number;
}

/** The end of a file lists its row groups, and is in memory until the file is whole. */
const mostGroups = 100;

/**
 * Writes the requested records as Parquet files in folders by day or month, or adds them to a dataset that has none of
 * them. The description is written last. Memory is bounded by one row group and one page.
 *
 * @throws UserError if there is no such venue, if the database has no data of the period, if the dataset has some of
 * them already, or if a file cannot be written
 */
export async function writeDataset(pool: Pool, wanted: RecordFilter, options: DatasetOptions): Promise<void> {
  // without a slash at its end, which would put the resume file into the folder
  const folder = resolve(options.output);
  if (wanted.venue !== null) await refuseUnknownVenue(pool, wanted.venue);
  try {
    await alone(folder, async () => {
      const covers = existsSync(noteOf(folder))
        ? await periodToContinue(folder, wanted, options.resume)
        : await begin(pool, folder, wanted, options.log);
      await writeFolders(pool, folder, { ...wanted, period: covers }, options);
      await removeResumeFile(folder);
    });
    options.onProgress?.(1);
  } catch (error) {
    throw unwritable(options.output, error) ?? error;
  }
}

/**
 * Two that continue the same export would write the same file.
 *
 * The lock is among the temporary files of this machine, since the disk of the dataset may hold no sockets, as exFAT.
 * It has its user in its name: another user could not write there.
 */
async function alone(folder: string, write: () => Promise<void>): Promise<void> {
  const name = createHash("sha256").update(`${userInfo().uid} ${folder}`).digest("hex");
  const lock = await lockDirectory(join(tmpdir(), `venuewatch-export-${name.slice(0, 16)}`)).catch((error: unknown) => {
    if (!(error instanceof DirectoryInUse)) throw error;
    throw new UserError(`--output: another export to ${folder} is running; wait until it ends`, { cause: error });
  });
  try {
    await write();
  } finally {
    await lock.release();
  }
}

async function periodToContinue(folder: string, wanted: RecordFilter, resume: boolean): Promise<Period> {
  if (!resume)
    throw new UserError(
      `--output: an export to ${folder} is unfinished or running, as ${noteOf(folder)} shows; continue it with --resume`,
    );
  await requireSameExport(folder, wanted, "parquet");
  return periodInResumeFile(folder);
}

/** The period is fixed here, since the database gets newer records while this writes or is interrupted. */
async function begin(pool: Pool, folder: string, wanted: RecordFilter, log: Log): Promise<Period> {
  const covers = await periodToWrite(pool, wanted, log);
  await requireRoomFor(folder, wanted, covers);
  try {
    await writeResumeFileOfPeriod(folder, wanted, "parquet", covers);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    throw new UserError(`--output: another export to ${folder} has just started; wait until it ends`);
  }
  return covers;
}

async function periodToWrite(pool: Pool, wanted: RecordFilter, log: Log): Promise<Period> {
  const { what, period } = wanted;
  const there = await periodThere(pool, wanted, log);
  const now = new Date();
  const today = now.toISOString().slice(0, 10);
  if (period.to > new Date(today))
    log.warn(`today is not over, and no file is changed later: --to ${today} would leave it to a later export`);
  // a period that is over is covered to its end, whenever its newest record was
  const to = period.to <= now ? period.to : there.to;
  if (there.from < there.to) return { from: datasets[what].maybeNone ? quietFrom(there.from) : there.from, to };
  // none had happened yet, which is an answer, too
  if (datasets[what].maybeNone) return { from: period.from, to };
  throw new UserError(`there are no ${what}, so there is no dataset to write; export them when there are some`);

  /** The time before the first is quiet, as far as it belongs to the same folder. */
  function quietFrom(first: Date): Date {
    const start = startOfFolder(what, first);
    return period.from > start ? period.from : start;
  }
}

async function writeFolders(pool: Pool, folder: string, wanted: RecordFilter, options: DatasetOptions): Promise<void> {
  const { what } = wanted;
  const { key, groupRows } = datasets[what].parquet;
  const { log, signal, onProgress } = options;
  const limits = options.limits ?? { groupRows, fileRows: mostGroups * groupRows };
  const table = await tableOf(pool, wanted);
  const schema = await writeTableSchema(folder, what, table, key);
  const resources = [];
  const folders = foldersOf(what, wanted.period);
  for (const [i, one] of folders.entries()) {
    const files = await writeFolder(one, (share) => onProgress?.((i + share) / folders.length));
    for (const { path, ...file } of files) resources.push(resourceOf(path, file, wanted, one.period, schema));
  }
  // read again: what its owner added to it meanwhile is kept
  const described = (await readDataPackage(folder)) ?? { resources: [] };
  const paths = new Set(resources.map(({ path }) => path));
  const others = described.resources.filter(({ path }) => !paths.has(path));
  await writeDataPackage(folder, { ...described, resources: [...others, ...resources] });

  /** At least one file: a period without rows is covered, too. Finished files are kept. */
  async function writeFolder(one: DatasetFolder, onShare: (share: number) => void) {
    const files: (WrittenFile & { path: string })[] = [];
    let after: Key | null = null;
    const nextPath = () => fileName(one, files.length + 1);
    while (existsSync(join(folder, nextPath()))) {
      const { last, ...file } = await readFinishedFile(join(folder, nextPath()), table.columns, key);
      files.push({ path: nextPath(), ...file });
      after = last ?? after;
    }
    let growing: GrowingFile | null = null;
    const start = () => createParquetFile(join(folder, nextPath()), table.columns, { key, ...limits });
    async function finish(file: GrowingFile): Promise<void> {
      files.push({ path: nextPath(), ...(await file.finish()) });
      growing = null;
    }
    try {
      if (files.length === 0) growing = await start();
      for await (const page of sortedRecords(pool, { ...wanted, period: one.period }, after, onShare)) {
        for (let at = 0; at < page.length;) {
          signal.throwIfAborted();
          growing ??= await start();
          const rows = page.slice(at, at + limits.fileRows - growing.rows);
          await growing.append(rows);
          at += rows.length;
          if (growing.rows === limits.fileRows) await finish(growing);
        }
      }
      signal.throwIfAborted();
      if (await isPartlyDropped(pool, what, one.period)) {
        await growing?.abandon();
        await leaveOut(one, files);
        return [];
      }
      if (growing !== null) await finish(growing);
      return files;
    } catch (error) {
      // a full disk, for one, should not keep what nobody can use
      await growing?.abandon().catch(() => {});
      throw error;
    }
  }

  /** A file of a part of its day would be read as the whole day. */
  async function leaveOut({ path, period }: DatasetFolder, files: readonly { path: string }[]): Promise<void> {
    const [from, to] = [period.from, period.to].map((at) => at.toISOString());
    log.warn(`the database has dropped ${what} of ${from} to ${to}, so ${path} is left out`);
    for (const file of files) await rm(join(folder, file.path));
  }
}

/** Whether the database dropped the oldest rows while they were read, or while the export was interrupted. */
async function isPartlyDropped(pool: Pool, what: DatasetName, { from }: Period): Promise<boolean> {
  if (datasets[what].keptFor === null) return false;
  const kept = await periodKept(pool, what);
  return kept === null || kept.from > from;
}
