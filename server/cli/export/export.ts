import { existsSync } from "node:fs";
import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { databaseUrlOf, readSettings } from "../../../shared/config/settings.js";
import { databaseFault } from "../../../shared/database/fault.js";
import { connect, type Db, type Pool, sql } from "../../../shared/database/pool.js";
import { type Log, makeLog } from "../../../shared/log/log.js";
import { UserError } from "../../../shared/process/user-error.js";
import { instantExpected, parseInstant } from "../../../shared/text/instant.js";
import { runToEnd } from "../../process/lifecycle.js";
import type { Given, Options } from "../command.js";
import { optionWord } from "../option-values.js";
import { type PackageResource, resourceOf, writeDataPackage, writeTableSchema } from "./data-package.js";
import {
  type Dataset,
  type DatasetName,
  datasets,
  type Period,
  periodKept,
  type RecordFilter,
  recordsOf,
  tableOf,
} from "./datasets.js";
import { createParquetFile, type GrowingFile, type WrittenFile } from "./parquet-file.js";

export const help = `Writes a dataset of a period as Parquet files, with the columns of the views in schema analytics. It
needs the rights of vw_analyst, and reads DATABASE_READ_URL if that is set. The time of a record is that of the sample,
the beginning of the minute or day, or the start of the incident; --from is inclusive, --to exclusive. Samples are kept
for eight days, minutes for 100 days, days and incidents forever.

--output is a new folder. It gets a file for each day of samples or minutes, and for each month of days or incidents, in
folders by date or month, and datapackage.json, which describes them. Until all of it is written, its name ends with
.unfinished. For CSV, use \\copy of psql (docs/analysts.md).`;

export const options = {
  what: {
    type: "string",
    help: `${Object.keys(datasets).join(", ")}`,
  },
  from: {
    type: "string",
    help: "start of the period: a day like 2026-01-31, or an instant like 2026-01-31T12:00:00Z; UTC",
  },
  to: { type: "string", help: "end of the period, exclusive" },
  venue: { type: "string", help: "only this venue (default: all)" },
  output: { type: "string", help: "the folder to write, which must not exist" },
  retracted: {
    type: "boolean",
    help: "incidents: include retracted ones",
  },
} satisfies Options;

/**
 * A window takes a fraction of a second. Without a limit, a statement on a server that vanished would wait for a
 * quarter of an hour.
 */
const statementTimeoutMs = 60_000;

type Texts = Partial<Record<keyof typeof options, string>>;

export async function run({ values }: Given): Promise<void> {
  const { output } = values as Texts;
  const wanted = wantedBy(values);
  if (output === undefined) throw new UserError("export --output: expected a folder that does not exist, got nothing");
  const settings = readSettings();
  const log = makeLog("export", settings.logLevel);
  await runToEnd(log, async (life) => {
    const { databaseReadUrl } = settings;
    const url = databaseReadUrl ?? databaseUrlOf(settings);
    const pool = await connect(
      url,
      {
        ...{ applicationName: "export", log, max: 1, statementTimeoutMs },
        readOnly: databaseReadUrl !== null,
      },
      databaseReadUrl === null ? "DATABASE_URL" : "DATABASE_READ_URL",
    );
    life.onClose("database connection", pool.close);
    const stopping = new AbortController();
    const writing = writeDataset(pool, wanted, {
      ...{ output, log, signal: stopping.signal },
      ...(process.stderr.isTTY && { onProgress: showProgress(wanted.what) }),
    });
    life.onClose("export", async () => {
      stopping.abort();
      // its error is reported where it is awaited
      await writing.catch(() => {});
    });
    await writing.catch((error: unknown) => {
      if ((error as Error).name === "AbortError" && stopping.signal.aborted)
        return log.warn(`stopped; nothing of ${output} was kept`);
      throw databaseFault(error, url) ?? error;
    });
  });
}

function wantedBy(values: Given["values"]): RecordFilter {
  const { what, from, to, venue } = values as Texts;
  const period = { from: timeOf("--from", from), to: timeOf("--to", to) };
  if (period.from >= period.to) throw new UserError(`export --to: expected a time after --from ${from}, got ${to}`);
  const dataset = optionWord("--what", Object.keys(datasets) as DatasetName[], what);
  const retracted = values["retracted"] === true;
  if (retracted && dataset !== "incidents")
    throw new UserError(`--retracted: only for --what incidents, got ${dataset}`);
  return { what: dataset, period, venue: venue ?? null, retracted };
}

function timeOf(option: string, text: string | undefined): Date {
  const day = text !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(text);
  const at = parseInstant(day ? `${text}T00:00:00Z` : (text ?? ""));
  if (at) return at;
  throw new UserError(
    `export ${option}: expected a day like 2026-01-31 or ${instantExpected}, got ${text === undefined ? "nothing" : JSON.stringify(text)}`,
  );
}

/** Overwrites the same line, and clears it at the end. */
function showProgress(what: DatasetName): (share: number) => void {
  let shown = -1;
  return (share) => {
    const percent = Math.floor(share * 100);
    if (percent === shown) return;
    shown = percent;
    process.stderr.write(`\r\x1b[K${percent < 100 ? `exporting ${what}, ${percent} %` : ""}`);
  };
}

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
    await writeWholeFolder(folder, (unfinished) => writeFolders(pool, unfinished, folders, wanted, options));
  } catch (error) {
    throw unwritableError(options.output, error) ?? error;
  }
  options.onProgress?.(1);
}

/**
 * Writes a folder under a temporary name beside it, and renames it when all of it is on the disk: so it exists as a
 * whole or not at all. An export that fails or is stopped leaves nothing; one that is killed leaves the temporary
 * folder.
 */
async function writeWholeFolder(folder: string, write: (unfinished: string) => Promise<void>): Promise<void> {
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
      if (entry.isDirectory()) await syncFolder(join(entry.parentPath, entry.name));
    await syncFolder(unfinished);
    await rename(unfinished, folder);
    await syncFolder(dirname(folder));
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true }).catch(() => {});
    throw error;
  }
}

/** Without this, a power failure could lose the names in a folder. */
async function syncFolder(folder: string): Promise<void> {
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
function unwritableError(path: string, error: unknown): UserError | null {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (!syscall || !["open", "write", "fsync", "mkdir", "rename"].includes(syscall)) return null;
  return new UserError(
    `--output: ${path} cannot be written (${code}): check its folder, its permissions and the free space on the disk`,
    { cause: error },
  );
}

// Compares what is requested with what the database has.

/** @throws UserError if the database has no such venue */
async function refuseUnknownVenue(db: Db, venue: string): Promise<void> {
  const rows = await db.query<{ venue: string }>(sql`select venue from analytics.venues order by venue`);
  const ids = rows.map(({ venue }) => venue);
  if (!ids.includes(venue))
    throw new UserError(`--venue: there is no venue ${JSON.stringify(venue)}; the venues are ${ids.join(", ")}`);
}

/**
 * The part of the requested period that a dataset can cover. It is fixed before the first row is read, since the
 * database gets newer ones meanwhile.
 *
 * @throws UserError if the database has no data of the period
 */
async function periodToWrite(db: Db, { what, period }: RecordFilter, log: Log): Promise<Period> {
  const kept = await periodKept(db, what);
  const { keptFor, maybeNone } = datasets[what];
  const since = keptFor === null ? "" : `, which are kept for ${keptFor}`;
  if (kept === null)
    throw new UserError(`there are no ${what}, so there is no dataset to write; export them when there are some`);
  if (period.from >= kept.to || (period.to <= kept.from && !maybeNone))
    throw new UserError(
      `there are no ${what} in this period: the database has them from ${kept.from.toISOString()} to ${kept.to.toISOString()}${since}`,
    );
  if (period.from < kept.from && keptFor !== null)
    log.warn(`there are no ${what} before ${kept.from.toISOString()}${since}`);
  const now = new Date();
  const today = now.toISOString().slice(0, 10);
  if (period.to > new Date(today))
    log.warn(`today is not over, and a dataset is never changed: --to ${today} would leave it to a later export`);
  // a period that is over is covered to its end, whenever its newest record was
  const to = period.to <= now || period.to <= kept.to ? period.to : kept.to;
  return { from: begin(kept.from), to };

  function begin(first: Date): Date {
    if (period.from >= first) return period.from;
    if (!maybeNone) return first;
    // none had happened yet, which is an answer, too
    if (period.to <= first) return period.from;
    const start = startOfFolder(what, first);
    // the time before the first is quiet, as far as it belongs to the same folder
    return period.from > start ? period.from : start;
  }
}

/** A folder of a dataset, with the part of the exported period that it gets. */
interface DatasetFolder {
  /** Relative to the dataset, like `what=samples/date=2026-11-21`. */
  path: string;
  /** The beginning of its files' names, like `samples-2026-11-21`. */
  stem: string;
  period: Period;
}

/**
 * The folders that a period is divided into, oldest first.
 *
 * A file is named after the start of what it covers: after the folder if that is the same, otherwise after the instant.
 * So the files of two exports that do not overlap have different names, though they may share a folder.
 */
function foldersOf(what: DatasetName, { from, to }: Period): DatasetFolder[] {
  const { folder } = datasets[what];
  const folders: DatasetFolder[] = [];
  for (let start = startOf(folder, from); start < to; start = startAfter(folder, start)) {
    const period = { from: start < from ? from : start, to: earlierOf(startAfter(folder, start), to) };
    const name = nameOf(folder, start);
    const stem = `${what}-${+period.from === +start ? name : instantName(period.from)}`;
    folders.push({ path: `what=${what}/${folder}=${name}`, stem, period });
  }
  return folders;
}

/** The start of what the folder of an instant contains. */
function startOfFolder(what: DatasetName, at: Date): Date {
  return startOf(datasets[what].folder, at);
}

/** The name of a file; an export divides those that would become too large. */
function fileName({ path, stem }: DatasetFolder, part: number): string {
  return `${path}/${stem}${part === 1 ? "" : `-part${part}`}.parquet`;
}

type FolderKind = Dataset["folder"];

function startOf(kind: FolderKind, at: Date): Date {
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), kind === "date" ? at.getUTCDate() : 1));
}

function startAfter(kind: FolderKind, start: Date): Date {
  const [year, month, day] = [start.getUTCFullYear(), start.getUTCMonth(), start.getUTCDate()];
  return new Date(kind === "date" ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1, 1));
}

function nameOf(kind: FolderKind, start: Date): string {
  return start.toISOString().slice(0, kind === "date" ? 10 : 7);
}

/** An instant as a part of a file name: without colons, which some systems refuse; at midnight its day. */
function instantName(at: Date): string {
  const [day, time] = at.toISOString().split("T") as [string, string];
  return time === "00:00:00.000Z" ? day : `${day}t${time.replaceAll(":", "").toLowerCase()}`;
}

function earlierOf(a: Date, b: Date): Date {
  return a < b ? a : b;
}
