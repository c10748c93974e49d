/**
 * A segment of the spool: a file of lines (`lineOf`) that is read from the front. It is deleted only when all of
 * it has been delivered.
 */
import { type FileHandle, open, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { Log } from "../../shared/log/log.js";
import type { Sample } from "../../shared/measurement/sample.js";
import { nothingMeasured } from "../measure/measurement.js";

/** Waiting samples, oldest first. They are returned again until `done` is called. */
export interface Batch {
  samples: readonly Sample[];
  /** The samples are in the database, or never will be: they can be deleted. */
  done: () => void;
}

export interface Segment {
  number: number;
  path: string;
  /** Length of the whole lines of the file. Nothing beyond is read. */
  bytes: number;
  /** Samples that are not delivered yet. */
  samples: number;
  readTo: number;
  /** Samples that are read but not delivered. */
  read: Sample[];
  reading: FileHandle | null;
  /** Whether `bytes` and `samples` are known. */
  isMeasured: boolean;
  /** It could not be read, and is left alone until then, by `performance.now()`; null: it can be read. */
  unreadableUntilMs: number | null;
}

export class FileTruncated extends Error {}

/** Holds most of a batch, and takes two milliseconds to read and parse. */
const chunkBytes = 128 * 1024;

const namePattern = /^(\d{12})\.samples$/;

export function emptySegment(directory: string, number: number): Segment {
  const path = join(directory, `${String(number).padStart(12, "0")}.samples`);
  return {
    ...{ number, path, bytes: 0, samples: 0, isMeasured: true },
    ...{ readTo: 0, read: [], reading: null, unreadableUntilMs: null },
  };
}

/** Numbers of the segments in a directory, oldest first. */
export async function segmentsIn(directory: string): Promise<number[]> {
  const names = await readdir(directory);
  return names
    .flatMap((name) => namePattern.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
}

/**
 * Counts whole lines of a file that is no longer written. A partial line at the end was being written when its process
 * died, and is ignored.
 */
export async function measureSegment(segment: Segment, log: Log): Promise<void> {
  const file = await open(segment.path);
  try {
    const chunk = Buffer.allocUnsafe(chunkBytes);
    let at = 0;
    segment.bytes = segment.samples = 0;
    for (;;) {
      const { bytesRead } = await file.read(chunk, 0, chunkBytes, at);
      if (bytesRead === 0) break;
      const lines = chunk.subarray(0, bytesRead);
      for (let i = lines.indexOf(newlineByte); i >= 0;) {
        segment.samples += 1;
        segment.bytes = at + i + 1;
        i = lines.indexOf(newlineByte, i + 1);
      }
      at += bytesRead;
    }
    segment.isMeasured = true;
    if (segment.bytes < at)
      log.info("ignored a partial line at the end of a file of the spool", {
        file: segment.path,
        bytes: at - segment.bytes,
      });
  } finally {
    await file.close();
  }
}

/**
 * Reads the next chunk, until `size` samples are read but not delivered.
 *
 * @returns how many lines it skipped because they are corrupt
 */
export async function readSegment(segment: Segment, size: number, log: Log): Promise<number> {
  const chunk = await nextChunk(segment);
  let from = 0;
  let broken = 0;
  while (segment.read.length < size) {
    const end = chunk.indexOf(newlineByte, from);
    if (end < 0) break;
    const sample = sampleOf(chunk.subarray(from, end));
    if (sample) segment.read.push(sample);
    else broken += 1;
    from = end + 1;
  }
  // no valid line is as long as a chunk: such a chunk is skipped, and the rest of its line counts as one broken line
  segment.readTo += from === 0 ? chunk.length : from;
  segment.samples -= broken;
  if (broken > 0)
    log.error("skipped corrupt lines in a file of the spool", {
      file: segment.path,
      before: segment.readTo,
      lines: broken,
    });
  return broken;
}

async function nextChunk(segment: Segment): Promise<Buffer> {
  segment.reading ??= await open(segment.path);
  const from = segment.readTo;
  const length = Math.min(chunkBytes, segment.bytes - from);
  // dropped meanwhile
  if (length <= 0) return Buffer.alloc(0);
  const chunk = Buffer.allocUnsafe(length);
  const { bytesRead } = await segment.reading.read(chunk, 0, length, from);
  if (segment.bytes < from + length) return Buffer.alloc(0);
  if (bytesRead < length) throw new FileTruncated(`expected ${length} bytes at ${from}, got ${bytesRead}`);
  return chunk;
}

export async function closeReading(segment: Segment): Promise<void> {
  const { reading } = segment;
  segment.reading = null;
  await reading?.close();
}

export async function deleteSegment(segment: Segment, log: Log): Promise<void> {
  await closeReading(segment);
  await unlink(segment.path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT")
      log.warn("cannot delete a file of the spool: its samples may be delivered again after a restart", {
        file: segment.path,
        error,
      });
  });
}

// A sample as a line of text: the CRC-32 of the JSON in eight hexadecimal digits, a space, and a JSON object.
//
// `3f6a1c07 {"venue":"kraken","component":"rest:ticker","slotAt":1790000000000,"latencyUs":80000,"httpStatus":200}`
//
// Each value is stored under its name, and nulls are omitted. So a line needs no header with column names, older and
// newer builds read the fields they know, and no field is ever mistaken for another. A field whose meaning changes
// needs another name.

const emptySample: Omit<Sample, "venue" | "component" | "slotAt"> = {
  lateMs: null,
  ...nothingMeasured,
};

/** All but `good`, which follows from `fault`. */
const lineFields = ["venue", "component", "slotAt", ...Object.keys(emptySample)].filter(
  (name) => name !== "good",
) as Exclude<keyof Sample, "good">[];

const dateFields = ["slotAt", "certificateExpiresAt"] as const;

const newlineByte = 10;
const spaceByte = 32;
const checksumDigits = 8;

/** Includes the final newline. */
export function lineOf(sample: Sample): string {
  const stored: Record<string, unknown> = {};
  for (const name of lineFields) {
    const value = sample[name];
    if (value !== null) stored[name] = typeof value === "string" ? value : plainValue(value);
  }
  const text = JSON.stringify(stored);
  return `${checksumOf(text)} ${text}\n`;
}

/** JSON has no NaN and would turn it into null. As text it reaches the database, which refuses it with an error. */
function plainValue(value: number | boolean | Date): unknown {
  const bare = value instanceof Date ? value.getTime() : value;
  return typeof bare === "number" && !Number.isFinite(bare) ? String(bare) : bare;
}

/**
 * @param line without the newline
 * @returns null if the line is corrupt, or no sample
 */
export function sampleOf(line: Buffer): Sample | null {
  const text = line.subarray(checksumDigits + 1);
  if (line[checksumDigits] !== spaceByte) return null;
  if (line.toString("latin1", 0, checksumDigits) !== checksumOf(text)) return null;
  const stored = parsedLine(text.toString());
  if (typeof stored.venue !== "string" || typeof stored.component !== "string") return null;
  const sample = { ...emptySample, ...stored, good: (stored.fault ?? null) === null };
  for (const name of dateFields) {
    const value = stored[name] ?? null;
    if (value !== null) sample[name] = new Date(value);
  }
  return sample.slotAt instanceof Date ? (sample as Sample) : null;
}

/** One in four billion corrupt lines has the right checksum. */
function parsedLine(text: string): Partial<Sample> {
  try {
    return Object(JSON.parse(text)) as Partial<Sample>;
  } catch {
    return {};
  }
}

function checksumOf(text: string | Buffer): string {
  return crc32(text).toString(16).padStart(checksumDigits, "0");
}
