import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { UserError } from "../../shared/process/user-error.js";
import type { Period } from "./datasets.js";
import type { OutputFormatName } from "./format.js";
import type { RecordFilter } from "./records.js";

/** Values by the name of their option; null and false: the option was not given. */
type Given = Record<string, string | boolean | null>;

/** Path of the resume file. It exists until the export is finished, and holds the options that it was started with. */
export const noteOf = (path: string) => `${path}.unfinished`;

function givenBy({ what, period, venue, retracted }: RecordFilter, form: OutputFormatName) {
  return {
    "--what": what,
    "--from": period.from.toISOString(),
    "--to": period.to.toISOString(),
    "--venue": venue,
    "--retracted": retracted,
    "--format": form,
  } satisfies Given;
}

/** To be called before anything is written to the output: without a resume file the export cannot be continued. */
export async function writeResumeFile(path: string, wanted: RecordFilter, form: OutputFormatName): Promise<void> {
  const given = JSON.stringify(givenBy(wanted, form));
  await writeFile(noteOf(path), `${given}\n`, { flush: true });
}

/**
 * The same for an export of several files, which are divided by the period that the database had when it started.
 *
 * @throws an error of code EEXIST where the output is being written already
 */
export async function writeResumeFileOfPeriod(
  path: string,
  wanted: RecordFilter,
  form: OutputFormatName,
  { from, to }: Period,
): Promise<void> {
  const given = { ...givenBy(wanted, form), [periodFrom]: from.toISOString(), [periodTo]: to.toISOString() };
  await writeFile(noteOf(path), `${JSON.stringify(given)}\n`, { flag: "wx", flush: true });
}

/** @throws UserError where the resume file does not have the period of `writeResumeFileOfPeriod` */
export async function periodInResumeFile(path: string): Promise<Period> {
  const note = await readNote(noteOf(path));
  const [from, to] = [periodFrom, periodTo].map((name) => new Date(String(note[name])));
  if (isNaN(+from!) || isNaN(+to!)) throw invalidNote(noteOf(path));
  return { from: from!, to: to! };
}

const [periodFrom, periodTo] = ["period from", "period to"];

export async function removeResumeFile(path: string): Promise<void> {
  await rm(noteOf(path), { force: true });
}

/**
 * Compares the options with those in the resume file. The records cannot show their options: records of one venue and
 * of all venues look alike, and since then the database has dropped old records and received late ones.
 *
 * @throws UserError if the export was started with other options, or is finished
 */
export async function requireSameExport(path: string, wanted: RecordFilter, form: OutputFormatName): Promise<void> {
  const note = noteOf(path);
  if (!existsSync(note))
    throw new UserError(
      `--resume: ${path} is finished or not from an export: to continue it, ${note} must exist. Name another file`,
    );
  const stored = await readNote(note);
  const differ = Object.entries(givenBy(wanted, form))
    .filter(([option, value]) => stored[option] !== value)
    .map(([option]) => described(option, stored[option]));
  if (differ.length > 0)
    throw new UserError(
      `--resume: ${path} was started ${differ.join(" and ")}. Give the same options, or name another file`,
    );
}

async function readNote(note: string): Promise<Given> {
  try {
    return JSON.parse(await readFile(note, "utf8")) as Given;
  } catch (error) {
    throw invalidNote(note, { cause: error });
  }
}

function invalidNote(note: string, cause?: ErrorOptions): UserError {
  return new UserError(
    `--resume: ${note} is not a valid resume file: remove it and what that export wrote, and start it again`,
    cause,
  );
}

function described(option: string, value: Given[string] | undefined): string {
  if (typeof value === "string") return `with ${option} ${value}`;
  return value ? `with ${option}` : `without ${option}`;
}
