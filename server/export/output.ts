import { createWriteStream, existsSync } from "node:fs";
import { stat, truncate } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import type { Writable } from "node:stream";
import { outputFault, UserError } from "../../shared/process/user-error.js";
import type { ExportFormat } from "./format.js";
import { datasets, type DatasetName } from "./datasets.js";
import { lastRecord, readPart } from "./last-record.js";
import type { Key } from "./records.js";

/** Where an export continues a file. */
export interface OutputPosition {
  /** How many bytes of the file are kept. */
  at: number;
  /** Key of the last record in them; null: they contain no record. */
  after: Key | null;
}

export const beginning: OutputPosition = { at: 0, after: null };

/**
 * Finds the end of the last complete record in a file of the same export.
 *
 * @throws UserError if the file is from another export
 */
export async function placeIn(
  path: string,
  form: ExportFormat,
  columns: readonly string[],
  what: DatasetName,
): Promise<OutputPosition> {
  const { from, to } = await lastRecord(path, form.quotes);
  const head = form.head(columns);
  const headEnd = Buffer.byteLength(head);
  if (to === 0) return beginning;
  const begins = await readPart(path, 0, Math.min(headEnd, to));
  if (begins !== head) throw ofAnother(path, "it does not begin with the columns of this one");
  if (to === headEnd) return { at: to, after: null };
  const after = keyOf(path, form, columns, what, await readPart(path, from, to));
  return { at: to, after };
}

function keyOf(path: string, form: ExportFormat, columns: readonly string[], what: DatasetName, record: string): Key {
  let values: Record<string, unknown>;
  try {
    values = form.values(columns, record);
  } catch (error) {
    throw ofAnother(path, `its last record is ${record.slice(0, 100).trim()}`, {
      cause: error,
    });
  }
  return datasets[what].key.map((column) => values[column]);
}

function ofAnother(path: string, why: string, cause?: ErrorOptions): UserError {
  return new UserError(`--resume: ${path} is from another export or another version: ${why}. Name another file`, cause);
}

/** Truncates a file at a position and writes from there, as fast as the disk allows. */
export async function writeFileFrom(
  path: string,
  at: number,
  text: AsyncIterable<string>,
  signal: AbortSignal,
): Promise<void> {
  const isThere = existsSync(path);
  if (isThere) await truncate(path, at);
  const file = createWriteStream(path, {
    flags: isThere ? "r+" : "wx",
    start: at,
    // the file is complete even if the machine crashes right afterwards
    flush: true,
  });
  await pipeline(text, file, { signal });
}

/**
 * A reader may close our output early, as `head` does; that is no error.
 *
 * @throws UserError if the output cannot be written
 */
export async function writeTo(output: Writable, text: AsyncIterable<string>, signal: AbortSignal): Promise<void> {
  try {
    await pipeline(text, output, { signal, end: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPIPE") throw outputFault(error) ?? error;
  }
}

/**
 * Whether a file exists and is not empty.
 *
 * @throws UserError if the path is not that of a file
 */
export async function isFilled(path: string): Promise<boolean> {
  if (!existsSync(path)) return false;
  const there = await stat(path);
  if (!there.isFile())
    throw new UserError(
      `--output: expected a file, got ${path}, which is not one; for a pipe or a device, omit --output and redirect standard output`,
    );
  return there.size > 0;
}

/** The error for the user if a file cannot be written; null for any other error. */
export function unwritable(path: string, error: unknown): UserError | null {
  const { code, syscall } = error as NodeJS.ErrnoException;
  const ofFiles = ["open", "write", "truncate", "ftruncate", "fsync", "mkdir", "rename", "scandir"];
  if (!syscall || !ofFiles.includes(syscall)) return null;
  return new UserError(
    `--output: ${path} cannot be written (${code}): check its folder, its permissions and the free space on the disk`,
    { cause: error },
  );
}
