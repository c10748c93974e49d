import { open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { applyEdits, findNodeAtLocation, type JSONPath, parseTree } from "jsonc-parser";
import { type Registry, type StallThreshold } from "../../shared/registry/registry.js";
import { loadRegistry, parseRegistry } from "../../shared/registry/load-registry.js";
import { UserError } from "../../shared/process/user-error.js";

export interface Threshold {
  /** Registry id. */
  venue: string;
  /** Name of the stream. */
  stream: string;
  stall: StallThreshold;
}

/**
 * Writes thresholds into a registry file and leaves every other byte unchanged. The file is replaced atomically, so a
 * program that starts meanwhile reads either the old or the new one. Changes that others made since the measurement
 * stay; thresholds of streams that they removed are dropped.
 *
 * @throws UserError if the file cannot be read or written, or is not (or no longer) a valid registry
 */
export async function writeThresholds(path: string, thresholds: readonly Threshold[]): Promise<void> {
  // reports what is wrong if somebody has broken the file since the measurement
  await loadRegistry(path);
  try {
    // a symbolic link stays a link
    const file = await realpath(path);
    const text = await readFile(file, "utf8");
    await replace(file, withThresholds(text, thresholds, path));
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    throw new UserError(
      `The registry ${path} cannot be written (${code}): let this user write the file and its folder, or set REGISTRY to a writable file`,
      { cause: error },
    );
  }
}

/**
 * @param name what messages call the registry
 * @throws UserError if the result is not a valid registry
 */
export function withThresholds(text: string, thresholds: readonly Threshold[], name: string): string {
  const registry = parseRegistry(parsed(text), name);
  const stalls = putInto(registry, thresholds);
  const rewritten = replaced(text, stalls);
  if (!isDeepStrictEqual(parseRegistry(parsed(rewritten), name), registry))
    throw new Error(`${name} would have changed beyond its thresholds`);
  return rewritten;
}

/** @returns the thresholds that were set, with their path in the registry; of two for one stream, the last counts */
function putInto({ venues }: Registry, thresholds: readonly Threshold[]): { path: JSONPath; stall: StallThreshold }[] {
  const put = new Map<string, { path: JSONPath; stall: StallThreshold }>();
  for (const { venue: id, stream: name, stall } of thresholds) {
    const v = venues.findIndex((venue) => venue.id === id);
    const streams = venues[v]?.socket?.streams ?? [];
    const s = streams.findIndex((stream) => stream.name === name);
    if (!streams[s]) continue;
    streams[s].stall = stall;
    put.set(`${v} ${s}`, { path: ["venues", v, "socket", "streams", s, "stall"], stall });
  }
  return [...put.values()];
}

/** Everything else stays as people wrote it. */
function replaced(text: string, thresholds: { path: JSONPath; stall: StallThreshold }[]): string {
  const root = parseTree(text)!;
  const edits = thresholds.map(({ path, stall }) => {
    const node = findNodeAtLocation(root, path);
    if (!node) throw new Error(`expected a value at ${path.join(".")} of the registry, found none`);
    return { offset: node.offset, length: node.length, content: oneLine(stall) };
  });
  return applyEdits(text, edits);
}

function parsed(text: string): unknown {
  return JSON.parse(text.replace(/^\ufeff/, ""));
}

/** The registry's style of small objects: `{ "afterMs": 10000, "distribution": null }`. */
function oneLine(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}: ${oneLine(inner)}`);
  return `{ ${fields.join(", ")} }`;
}

async function replace(file: string, text: string): Promise<void> {
  const mode = (await stat(file)).mode & 0o777;
  const beside = `${file}.${process.pid}.new`;
  const handle = await open(beside, "wx", mode);
  try {
    try {
      await handle.writeFile(text);
      await handle.chmod(mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(beside, file);
  } catch (error) {
    await rm(beside);
    throw error;
  }
}
