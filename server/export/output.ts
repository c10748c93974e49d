import { createWriteStream, existsSync } from "node:fs";
import { stat, truncate } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import type { Writable } from "node:stream";
import { UserError } from "../user-error.js";
import type { Form } from "./form.js";
import { kinds } from "./kinds.js";
import { lastRecord, readPart } from "./last-record.js";
import { type Key, timeOf, type Wanted } from "./records.js";

/** Where a file is gone on with. */
export interface Place {
  /** Bytes that are kept. */
  at: number;
  /** Of the last record that is in them; null: there is none. */
  after: Key | null;
}

export const beginning: Place = { at: 0, after: null };

/**
 * Finds where a file of the same export ends, a record that was cut off left out.
 *
 * @throws UserError where it is of another export
 */
export async function placeIn(
  path: string,
  form: Form,
  columns: readonly string[],
  wanted: Wanted,
): Promise<Place> {
  if (!existsSync(path)) return beginning;
  const { from, to } = await lastRecord(path, form.quotes);
  const head = form.head(columns);
  const headEnd = Buffer.byteLength(head);
  if (to === 0) return beginning;
  const begins = await readPart(path, 0, Math.min(headEnd, to));
  if (begins !== head)
    throw ofAnother(path, "it does not begin with this one's columns");
  if (to === headEnd) return { at: to, after: null };
  const after = keyOf(
    path,
    form,
    columns,
    wanted,
    await readPart(path, from, to),
  );
  return { at: to, after };
}

function keyOf(
  path: string,
  form: Form,
  columns: readonly string[],
  { what, period, venue }: Wanted,
  record: string,
): Key {
  let values: Record<string, unknown>;
  try {
    values = form.values(columns, record);
  } catch (error) {
    throw ofAnother(path, `its last record is ${record.slice(0, 100).trim()}`, {
      cause: error,
    });
  }
  const key = kinds[what].key.map((column) => values[column]);
  const at = timeOf(key);
  // of a day or an incident that began before, there is no record
  if (!(at >= period.from && at < period.to))
    throw ofAnother(path, `its last record is of ${String(key[0])}`);
  if (venue !== null && values["venue"] !== venue)
    throw ofAnother(path, `its last record is of ${String(values["venue"])}`);
  return key;
}

function ofAnother(path: string, why: string, cause?: ErrorOptions): UserError {
  return new UserError(
    `--resume: ${path} is of another export: ${why}. Give the options that it was begun with, or name another file`,
    cause,
  );
}

/**
 * Writes to a file from a place on, as fast as the disk takes it; what stands behind the place is cut off.
 *
 * @throws UserError where it cannot be written
 */
export async function writeFileFrom(
  path: string,
  at: number,
  text: AsyncIterable<string>,
  signal: AbortSignal,
): Promise<void> {
  const isThere = existsSync(path);
  try {
    if (isThere) await truncate(path, at);
    const file = createWriteStream(path, {
      flags: isThere ? "r+" : "wx",
      start: at,
      // a machine that goes down after the end has all of it
      flush: true,
    });
    await pipeline(text, file, { signal });
  } catch (error) {
    throw unwritable(path, error) ?? error;
  }
}

/** Whoever reads our output may have had enough: that is no fault. */
export async function writeTo(
  output: Writable,
  text: AsyncIterable<string>,
  signal: AbortSignal,
): Promise<void> {
  try {
    await pipeline(text, output, { signal, end: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPIPE") throw error;
  }
}

/** @throws UserError where a file has something in it */
export async function refuseFilled(path: string): Promise<void> {
  if (existsSync(path) && (await stat(path)).size > 0)
    throw new UserError(
      `--output: ${path} is there already; go on with it by --resume, or name another file`,
    );
}

function unwritable(path: string, error: unknown): UserError | null {
  const { code, syscall } = error as NodeJS.ErrnoException;
  const ofFiles = ["open", "write", "truncate", "ftruncate", "fsync"];
  if (!syscall || !ofFiles.includes(syscall)) return null;
  return new UserError(
    `--output: ${path} cannot be written (${code}): look after the folder, the rights and the room on the disk`,
    { cause: error },
  );
}
