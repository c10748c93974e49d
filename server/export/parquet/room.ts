import { existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { UserError } from "../../../shared/process/user-error.js";
import type { Period } from "../datasets.js";
import type { RecordFilter } from "../records.js";
import { type DataPackage, readDataPackage, scopeOf } from "./data-package.js";
import { foldersOf } from "./folders.js";

/** As many as a century of months; readers open each of them. */
const mostFolders = 1_200;

/**
 * Whether a folder can get these records: it is new or empty, or a dataset that does not have them yet.
 *
 * @throws UserError if it cannot
 */
export async function requireRoomFor(folder: string, wanted: RecordFilter, covers: Period): Promise<void> {
  await requireDatasetOrNothing(folder);
  const described = await readDataPackage(folder);
  if (described) requireOther(folder, described, wanted, covers);
  const folders = foldersOf(wanted.what, covers);
  if (folders.length > mostFolders)
    throw new UserError(
      `--from: expected a period of at most ${mostFolders} files, got ${folders.length}; give a later --from`,
    );
  const named = new Set(described?.resources.map(({ path }) => path));
  for (const { path } of folders)
    for (const name of existsSync(join(folder, path)) ? await readdir(join(folder, path)) : [])
      if (name.endsWith(".parquet") && !named.has(`${path}/${name}`))
        throw new UserError(
          `--output: ${join(folder, path, name)} is there, but datapackage.json does not name it; remove it`,
        );
}

async function requireDatasetOrNothing(folder: string): Promise<void> {
  if (!existsSync(folder)) return;
  if (!(await stat(folder)).isDirectory())
    throw new UserError(`--output: expected a folder, since parquet is many files, got ${folder}, which is a file`);
  const names = await readdir(folder);
  if (names.length > 0 && !names.includes("datapackage.json"))
    throw new UserError(
      `--output: ${folder} is neither empty nor a dataset, which has a datapackage.json; name another folder`,
    );
}

/** Rows that are in two files would be counted twice. */
function requireOther(folder: string, { resources }: DataPackage, wanted: RecordFilter, covers: Period): void {
  const { what, ...scope } = scopeOf(wanted);
  const alike = resources.filter((resource) => resource["what"] === what);
  const narrower = alike.find((resource) => Object.entries(scope).some(([name, value]) => resource[name] !== value));
  if (narrower)
    throw new UserError(
      `--output: the ${what} in ${folder} are ${inWords(narrower)}; give the same options, or name another folder`,
    );
  const overlapping = alike.filter(
    ({ from, to }) => new Date(String(from)) < covers.to && new Date(String(to)) > covers.from,
  );
  if (overlapping.length === 0) return;
  const ends = overlapping.map(({ to }) => String(to)).sort();
  throw new UserError(
    `--from: ${folder} already has ${what} of this period, until ${ends.at(-1)}; give a later --from, or name another folder`,
  );
}

function inWords({ venue, retracted }: Record<string, unknown>): string {
  const of = typeof venue === "string" ? `those of ${venue}` : "those of all venues";
  return retracted === true ? `${of} with retracted ones` : of;
}
