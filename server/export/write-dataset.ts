import { existsSync } from "node:fs";
import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Pool } from "../../shared/database/pool.js";
import type { Log } from "../../shared/log/log.js";
import { UserError } from "../../shared/process/user-error.js";
import { tableOf } from "./columns.js";
import { type PackageResource, resourceOf, writeDataPackage, writeTableSchema } from "./data-package.js";
import { type DatasetName, datasets, type Period, periodKept } from "./datasets.js";
import { type DatasetFolder, fileName, foldersOf } from "./folders.js";
import { createParquetFile, type GrowingFile, type WrittenFile } from "./parquet-file.js";
import { type RecordFilter, recordsOf } from "./records.js";
import { periodToWrite, refuseUnknownVenue } from "./request.js";

export interface DatasetOptions {
  /** The folder of the dataset, which must not exist. */
  output: string;
  log: Log;
  signal: AbortSignal;
  /** @param share of the period, from 0 to 1 */
  onProgress?: (share: number) => void;
  /** Smaller files and row groups, for tests. */
  limits?: FileLimits;
}

interface FileLimits {
  groupRows: number;
  fileRows: number;
}

/** The footer of a file lists its row groups, and stays in memory until the file is complete. */
const mostGroups = 100;

/** As many as a century of months; readers open each of them. */
const mostFolders = 1_200;

/**
 * Writes the requested records as Parquet files in folders by day or month, with a description. Memory is bounded by
 * one row group and one page.
 *
 * @throws UserError if there is no such venue, if the database has no data of the period, or if the folder exists or
 * cannot be written
 */
export async function writeDataset(pool: Pool, wanted: RecordFilter, options: DatasetOptions): Promise<void> {
  const folder = resolve(options.output);
  if (existsSync(folder)) throw new UserError(`--output: ${folder} already exists; name a folder that does not`);
  if (wanted.venue !== null) await refuseUnknownVenue(pool, wanted.venue);
  const period = await periodToWrite(pool, wanted, options.log);
  const folders = foldersOf(wanted.what, period);
  if (folders.length > mostFolders)
    throw new UserError(
      `--from: expected a period of at most ${mostFolders} files, got ${folders.length}; give a later --from`,
    );
  try {
    await whole(folder, (unfinished) => writeFolders(pool, unfinished, folders, wanted, options));
  } catch (error) {
    throw unwritable(options.output, error) ?? error;
  }
  options.onProgress?.(1);
}

/**
 * Writes a folder under a temporary name beside it, and renames it when all of it is on the disk: so it exists as a
 * whole or not at all. An export that fails or is stopped leaves nothing; one that is killed leaves the temporary
 * folder.
 */
async function whole(folder: string, write: (unfinished: string) => Promise<void>): Promise<void> {
  const unfinished = `${folder}.unfinished`;
  await mkdir(unfinished).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
    throw new UserError(
      `--output: ${unfinished} exists: an export to ${folder} is running, or was killed; if none is running, remove it`,
    );
  });
  try {
    await write(unfinished);
    for (const entry of await readdir(unfinished, { recursive: true, withFileTypes: true }))
      if (entry.isDirectory()) await sync(join(entry.parentPath, entry.name));
    await sync(unfinished);
    await rename(unfinished, folder);
    await sync(dirname(folder));
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true }).catch(() => {});
    throw error;
  }
}

/** Without this, a power failure could lose the names in a folder. */
async function sync(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function writeFolders(
  pool: Pool,
  output: string,
  folders: readonly DatasetFolder[],
  wanted: RecordFilter,
  options: DatasetOptions,
): Promise<void> {
  const { what } = wanted;
  const { key, groupRows } = datasets[what];
  const { log, signal, onProgress } = options;
  const limits = options.limits ?? { groupRows, fileRows: mostGroups * groupRows };
  const table = await tableOf(pool, wanted);
  const schema = await writeTableSchema(output, what, table, key);
  const resources: PackageResource[] = [];
  for (const [i, one] of folders.entries()) {
    const files = await writeFolder(one, (share) => onProgress?.((i + share) / folders.length));
    if (await isPartlyDropped(pool, what, one.period)) await leaveOut(one);
    else for (const { path, ...file } of files) resources.push(resourceOf(path, file, wanted, one.period, schema));
  }
  await writeDataPackage(output, resources);

  /** At least one file: a period without rows is covered, too. */
  async function writeFolder(one: DatasetFolder, onShare: (share: number) => void) {
    const files: (WrittenFile & { path: string })[] = [];
    const nextPath = () => fileName(one, files.length + 1);
    const start = () => createParquetFile(join(output, nextPath()), table.columns, { key, ...limits });
    let growing: GrowingFile | null = await start();
    async function finish(file: GrowingFile): Promise<void> {
      files.push({ path: nextPath(), ...(await file.finish()) });
      growing = null;
    }
    try {
      for await (const page of recordsOf(pool, { ...wanted, period: one.period }, onShare)) {
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
      if (growing !== null) await finish(growing);
      return files;
    } catch (error) {
      await growing?.abandon().catch(() => {});
      throw error;
    }
  }

  /** A file of a part of its day would be read as the whole day. */
  async function leaveOut({ path, period }: DatasetFolder): Promise<void> {
    const [from, to] = [period.from, period.to].map((at) => at.toISOString());
    log.warn(`the database has dropped ${what} of ${from} to ${to}, so ${path} is left out`);
    await rm(join(output, path), { recursive: true });
  }
}

/** Whether the database dropped the oldest rows while they were read. */
async function isPartlyDropped(pool: Pool, what: DatasetName, { from }: Period): Promise<boolean> {
  if (datasets[what].keptFor === null) return false;
  const kept = await periodKept(pool, what);
  return kept === null || kept.from > from;
}

/** The error for the user if the output cannot be written; null for any other error. */
function unwritable(path: string, error: unknown): UserError | null {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (!syscall || !["open", "write", "fsync", "mkdir", "rename"].includes(syscall)) return null;
  return new UserError(
    `--output: ${path} cannot be written (${code}): check its folder, its permissions and the free space on the disk`,
    { cause: error },
  );
}
