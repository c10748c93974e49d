import type { Writable } from "node:stream";
import type { Pool } from "../../shared/database/pool.js";
import type { Log } from "../../shared/log/log.js";
import { UserError } from "../../shared/process/user-error.js";
import { writeResumeFile, removeResumeFile, requireSameExport } from "./resume-file.js";
import { type ExportFormatName, exportFormats } from "./format.js";
import { beginning, isFilled, type OutputPosition, placeIn, unwritable, writeFileFrom, writeTo } from "./output.js";
import { columnsOf, recordsOf, type RecordFilter } from "./records.js";
import { periodThere, refuseUnknownVenue } from "./request.js";

export interface ExportOptions {
  format: ExportFormatName;
  /** The path of a file, or a stream. */
  output: string | Writable;
  /** Whether to continue a file that already exists. */
  resume: boolean;
  log: Log;
  signal: AbortSignal;
  /** @param share of the period, from 0 to 1 */
  onProgress?: (share: number) => void;
}

/**
 * Writes the requested records. A slow reader of the output delays nobody else, and no buffer grows meanwhile.
 *
 * @throws UserError if there is no such venue, if the database cannot have data of the period, or if the file cannot be
 * written or continued
 */
export async function writeExport(
  pool: Pool,
  wanted: RecordFilter,
  { format, output, resume, log, signal, onProgress }: ExportOptions,
): Promise<void> {
  if (wanted.venue !== null) await refuseUnknownVenue(pool, wanted.venue);
  const period = await periodThere(pool, wanted, log);
  const columns = await columnsOf(pool, wanted);
  const form = exportFormats[format];

  async function* text({ at, after }: OutputPosition): AsyncGenerator<string> {
    if (at === 0) yield form.head(columns);
    const there = { ...wanted, period };
    for await (const rows of recordsOf(pool, there, after, onProgress)) yield form.text(columns, rows);
    onProgress?.(1);
  }
  if (typeof output !== "string") return writeTo(output, text(beginning), signal);
  const path = output;
  const place = await placeOf();
  try {
    if (place.at === 0) await writeResumeFile(path, wanted, format);
    await writeFileFrom(path, place.at, text(place), signal);
    await removeResumeFile(path);
  } catch (error) {
    throw unwritable(path, error) ?? error;
  }

  async function placeOf(): Promise<OutputPosition> {
    if (!(await isFilled(path))) return beginning;
    if (!resume)
      throw new UserError(`--output: ${path} already exists; continue it with --resume, or name another file`);
    await requireSameExport(path, wanted, format);
    return placeIn(path, form, columns, wanted.what);
  }
}
