import { createWriteStream, existsSync } from "node:fs";
import { stat, truncate } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import type { Writable } from "node:stream";
import { outputFault, UserError } from "../../shared/process/user-error.js";
import type { ExportFormat } from "./format.js";
import { datasets, type DatasetName } from "./datasets.js";
import { lastRecord, readPart } from "./last-record.js";
import type { Key } from "./records.js";

/** Where a file is gone on with. */
export interface OutputPosition {
  /** Bytes that are kept. */
  at: number;
  /** Of the last record that is in them; null: there is none. */
  after: Key | null;
}

export const beginning: OutputPosition = { at: 0, after: null };

/**
 * Finds where a file of the same export ends, a record that was cut off left out.
 *
 * @throws UserError where it is of another export
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
  if (begins !== head) throw ofAnother(path, "it does not begin with this one's columns");
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
  return new UserError(
    `--resume: ${path} is of another export, or of another version's: ${why}. Name another file`,
    cause,
  );
}

/** Writes to a file from a place on, as fast as the disk takes it; what stands behind the place is cut off. */
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
    // a machine that goes down after the end has all of it
    flush: true,
  });
  await pipeline(text, file, { signal });
}

/**
 * Whoever reads our output may have had enough: that is no fault.
 *
 * @throws UserError where it cannot be written
 */
export async function writeTo(output: Writable, text: AsyncIterable<string>, signal: AbortSignal): Promise<void> {
  try {
    await pipeline(text, output, { signal, end: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPIPE") throw outputFault(error) ?? error;
  }
}

/**
 * Whether a file is there, and has something in it.
 *
 * @throws UserError where it is no file
 */
export async function isFilled(path: string): Promise<boolean> {
  if (!existsSync(path)) return false;
  const there = await stat(path);
  if (!there.isFile())
    throw new UserError(
      `--output: expected a file, got ${path}, which is none; for a pipe or a device leave --output out, and redirect standard output`,
    );
  return there.size > 0;
}

/** What is wrong with a file, where that is why it cannot be written. */
export function unwritable(path: string, error: unknown): UserError | null {
  const { code, syscall } = error as NodeJS.ErrnoException;
  const ofFiles = ["open", "write", "truncate", "ftruncate", "fsync"];
  if (!syscall || !ofFiles.includes(syscall)) return null;
  return new UserError(
    `--output: ${path} cannot be written (${code}): look after the folder, the rights and the room on the disk`,
    { cause: error },
  );
}
