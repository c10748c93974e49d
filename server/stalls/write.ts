import { open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { applyEdits, findNodeAtLocation, type JSONPath, type Node, parseTree } from "jsonc-parser";
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
 * Writes thresholds into a registry file and leaves every other byte unchanged: into whole entries, and as overrides of
 * venues of the catalogue. The file is replaced atomically: a program that starts meanwhile reads either the old or
 * the new one. Changes that others made since the measurement stay; thresholds of streams that they removed are
 * dropped.
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
  const rewritten = putInto(registry, thresholds).reduce(replaced, text);
  if (!isDeepStrictEqual(parseRegistry(parsed(rewritten), name), registry))
    throw new Error(`${name} would have changed beyond its thresholds`);
  return rewritten;
}

/** A threshold for a stream of the registry. */
interface Put extends Threshold {
  /** Indices of the venue, and of the stream in its resolved entry. */
  v: number;
  s: number;
}

/** @returns the thresholds that were set in the registry; of two for one stream, the last counts */
function putInto({ venues }: Registry, thresholds: readonly Threshold[]): Put[] {
  const put = new Map<string, Put>();
  for (const threshold of thresholds) {
    const v = venues.findIndex(({ id }) => id === threshold.venue);
    const streams = venues[v]?.socket?.streams ?? [];
    const s = streams.findIndex(({ name }) => name === threshold.stream);
    if (!streams[s]) continue;
    streams[s].stall = threshold.stall;
    put.set(`${v} ${s}`, { ...threshold, v, s });
  }
  return [...put.values()];
}

/** Writes one threshold; everything else stays as people wrote it. */
function replaced(text: string, { v, s, stream, stall }: Put): string {
  const root = parseTree(text)!;
  const venue = findNodeAtLocation(root, ["venues", v])!;
  if (venue.type === "string") {
    const override = { socket: { streams: { [stream]: { stall } } } };
    return withEdit(text, venue, oneLine({ id: venue.value as string, override }));
  }
  const override = findNodeAtLocation(venue, ["override"]);
  if (!override) return withValue(text, venue, ["socket", "streams", s, "stall"], stall);
  // an override has streams by name, or instead of the catalogue's a list of its own
  const isList = findNodeAtLocation(override, ["socket", "streams"])?.type === "array";
  return withValue(text, override, ["socket", "streams", isList ? s : stream, "stall"], stall);
}

/** Sets the value at a path from an object, and creates the objects on the way that are missing. */
function withValue(text: string, from: Node, [key, ...inner]: JSONPath, value: unknown): string {
  const found = findNodeAtLocation(from, [key!]);
  if (found) return inner.length === 0 ? withEdit(text, found, oneLine(value)) : withValue(text, found, inner, value);
  const nested = inner.reduceRight<unknown>((one, outer) => ({ [outer]: one }), value);
  const property = `${JSON.stringify(key)}: ${oneLine(nested)}`;
  const last = from.children!.at(-1);
  if (!last) return withEdit(text, from, `{ ${property} }`);
  return withEdit(text, { offset: last.offset + last.length, length: 0 }, `, ${property}`);
}

function withEdit(text: string, { offset, length }: Pick<Node, "offset" | "length">, content: string): string {
  return applyEdits(text, [{ offset, length, content }]);
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
