import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { UserError } from "../../shared/process/user-error.js";
import type { ExportFormatName } from "./format.js";
import type { RecordFilter } from "./records.js";

/** By the option's name; null and false: it was not given. */
type Given = Record<string, string | boolean | null>;

/** Stands beside a file for as long as that is not finished, and has the options that it was begun with. */
const noteOf = (path: string) => `${path}.unfinished`;

function givenBy({ what, period, venue, retracted }: RecordFilter, form: ExportFormatName) {
  return {
    "--what": what,
    "--from": period.from.toISOString(),
    "--to": period.to.toISOString(),
    "--venue": venue,
    "--retracted": retracted,
    "--format": form,
  } satisfies Given;
}

/** Before anything is in the file: without it that cannot be gone on with. */
export async function writeResumeFile(path: string, wanted: RecordFilter, form: ExportFormatName): Promise<void> {
  const given = JSON.stringify(givenBy(wanted, form));
  await writeFile(noteOf(path), `${given}\n`, { flush: true });
}

export async function removeResumeFile(path: string): Promise<void> {
  await rm(noteOf(path), { force: true });
}

/**
 * The file's records do not say by which options they were chosen: of one venue or of all they look alike, and the
 * database has lost old ones and got late ones since.
 *
 * @throws UserError where a file was begun with other options, or is finished
 */
export async function requireSameExport(path: string, wanted: RecordFilter, form: ExportFormatName): Promise<void> {
  const note = noteOf(path);
  if (!existsSync(note))
    throw new UserError(
      `--resume: ${path} is finished, or not of an export: what can be gone on with has ${note} beside it. Name another file`,
    );
  const begun = await readNote(note);
  const differ = Object.entries(givenBy(wanted, form))
    .filter(([option, value]) => begun[option] !== value)
    .map(([option]) => told(option, begun[option]));
  if (differ.length > 0)
    throw new UserError(
      `--resume: ${path} was begun ${differ.join(" and ")}. Give the options that it was begun with, or name another file`,
    );
}

async function readNote(note: string): Promise<Given> {
  try {
    return JSON.parse(await readFile(note, "utf8")) as Given;
  } catch (error) {
    throw new UserError(`--resume: ${note} does not say what it stands beside: remove both files, and begin anew`, {
      cause: error,
    });
  }
}

function told(option: string, value: Given[string] | undefined): string {
  if (typeof value === "string") return `with ${option} ${value}`;
  return value ? `with ${option}` : `without ${option}`;
}
