import { type Dataset, type DatasetName, datasets, type Period } from "./datasets.js";

/** A folder of a dataset, with the part of the exported period that it gets. */
export interface DatasetFolder {
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
export function foldersOf(what: DatasetName, { from, to }: Period): DatasetFolder[] {
  const { folder } = datasets[what];
  const folders: DatasetFolder[] = [];
  for (let start = startOf(folder, from); start < to; start = startAfter(folder, start)) {
    const period = { from: start < from ? from : start, to: earlier(startAfter(folder, start), to) };
    const name = nameOf(folder, start);
    const stem = `${what}-${+period.from === +start ? name : instantName(period.from)}`;
    folders.push({ path: `what=${what}/${folder}=${name}`, stem, period });
  }
  return folders;
}

/** The start of what the folder of an instant contains. */
export function startOfFolder(what: DatasetName, at: Date): Date {
  return startOf(datasets[what].folder, at);
}

/** The name of a file; an export divides those that would become too large. */
export function fileName({ path, stem }: DatasetFolder, part: number): string {
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

function earlier(a: Date, b: Date): Date {
  return a < b ? a : b;
}
