/**
 * A sample as a line of text: the CRC-32 of the JSON in eight hexadecimal digits, a space, and a JSON object.
 *
 * `3f6a1c07 {"venue":"kraken","component":"rest:ticker","slotAt":1790000000000,"latencyUs":80000,"httpStatus":200}`
 *
 * Each value is stored under its name, and nulls are omitted. So a line needs no header with column names, older and
 * newer builds read the fields they know, and no field is ever mistaken for another. A field whose meaning changes
 * needs another name.
 */
import { crc32 } from "node:zlib";
import type { Sample } from "../../shared/measurement/sample.js";
import { nothingMeasured } from "../rest/measurement.js";

const nothing: Omit<Sample, "venue" | "component" | "slotAt"> = {
  lateMs: null,
  ...nothingMeasured,
};

/** All but `good`, which follows from `fault`. */
const fields = ["venue", "component", "slotAt", ...Object.keys(nothing)].filter((name) => name !== "good") as Exclude<
  keyof Sample,
  "good"
>[];

const dates = ["slotAt", "certificateExpiresAt"] as const;

export const newline = 10;
const space = 32;
const checksumDigits = 8;

/** Includes the final newline. */
export function lineOf(sample: Sample): string {
  const stored: Record<string, unknown> = {};
  for (const name of fields) {
    const value = sample[name];
    if (value !== null) stored[name] = typeof value === "string" ? value : plain(value);
  }
  const text = JSON.stringify(stored);
  return `${checksumOf(text)} ${text}\n`;
}

/** JSON has no NaN and would turn it into null. As text it reaches the database, which refuses it with an error. */
function plain(value: number | boolean | Date): unknown {
  const bare = value instanceof Date ? value.getTime() : value;
  return typeof bare === "number" && !Number.isFinite(bare) ? String(bare) : bare;
}

/**
 * @param line without the newline
 * @returns null if the line is corrupt, or no sample
 */
export function sampleOf(line: Buffer): Sample | null {
  const text = line.subarray(checksumDigits + 1);
  if (line[checksumDigits] !== space) return null;
  if (line.toString("latin1", 0, checksumDigits) !== checksumOf(text)) return null;
  const stored = parsed(text.toString());
  if (typeof stored.venue !== "string" || typeof stored.component !== "string") return null;
  const sample = { ...nothing, ...stored, good: (stored.fault ?? null) === null };
  for (const name of dates) {
    const value = stored[name] ?? null;
    if (value !== null) sample[name] = new Date(value);
  }
  return sample.slotAt instanceof Date ? (sample as Sample) : null;
}

/** One in four billion corrupt lines has the right checksum. */
function parsed(text: string): Partial<Sample> {
  try {
    return Object(JSON.parse(text)) as Partial<Sample>;
  } catch {
    return {};
  }
}

function checksumOf(text: string | Buffer): string {
  return crc32(text).toString(16).padStart(checksumDigits, "0");
}
