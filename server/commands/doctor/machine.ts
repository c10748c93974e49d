/** What this machine offers: room for open files, the data directory, ports. */
import { access, constants, readdir, stat, statfs } from "node:fs/promises";
import { createReadStream, type Dirent, readFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { once } from "node:events";
import { newline } from "../../../probe/delivery/spool-record.js";
import { addressOf } from "../../../shared/config/address.js";
import { embeddedPort, portsOf } from "../../process/ports.js";
import type { Registry } from "../../../shared/registry/registry.js";
import type { Settings } from "../../../shared/config/settings.js";
import { type Finding, failure, made, ok, warning } from "./finding.js";

const mebibyte = 2 ** 20;

/** The database, the log, the API's clients. */
const filesBesides = 200;

/** @param limit open files that this process may have; null where the system does not tell */
export function filesFound({ venues }: Registry, limit = openFileLimit()): Finding {
  const connections = venues.reduce(
    (sum, { rest, socket }) =>
      // while one is renewed there are two
      sum + 2 * (rest.length + (socket ? 1 + socket.streams.length : 0)),
    0,
  );
  const needed = connections + filesBesides;
  if (limit === null) return ok("open files", `${needed} are needed at the most; no limit is known`);
  const found = `${limit} are allowed, ${needed} are needed at the most`;
  return limit >= needed
    ? ok("open files", found)
    : failure(
        "open files",
        found,
        `raise the limit: ulimit -n ${needed}, or LimitNOFILE=${needed} in the unit of systemd`,
      );
}

function openFileLimit(): number | null {
  try {
    // Node has raised the soft limit to the hard one
    const limits = readFileSync("/proc/self/limits", "utf8");
    const [, soft = ""] = /^Max open files\s+(\S+)/m.exec(limits) ?? [];
    return /^\d+$/.test(soft) ? Number(soft) : null;
  } catch {
    return null;
  }
}

/**
 * Below the first the embedded database and the spool soon stand still; below the second it is time to look after it.
 */
const leastFreeBytes = 512 * mebibyte;
const comfortableBytes = 5 * 1024 * mebibyte;

export async function dataDirFound({ dataDir }: Pick<Settings, "dataDir">): Promise<Finding[]> {
  const here = await nearestExisting(dataDir);
  try {
    await access(here, constants.W_OK | constants.X_OK);
    if (!(await stat(here)).isDirectory()) throw Object.assign(new Error("not a directory"), { code: "ENOTDIR" });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return [
      failure(
        "data directory",
        `${dataDir} cannot be written (${code})`,
        "make it writable for this user, or set DATA_DIR to another directory",
      ),
    ];
  }
  const advice = "let this user read it, and look after the disk";
  return [
    await made("data directory", () => roomFound(dataDir, here), isErrno, advice),
    ...(here === dataDir ? [await made("spool", () => spoolFound(dataDir), isErrno, advice)] : []),
  ];
}

/** Not Node's own codes, ERR_ and so on, which are of calls that were wrong. */
function isErrno(code: string): boolean {
  return /^E[A-Z0-9]+$/.test(code);
}

async function roomFound(dataDir: string, here: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(here);
  const free = bavail * bsize;
  const holder = here === dataDir ? await holderOf(dataDir) : null;
  const found = [
    `${dataDir} can be written, ${inMebibytes(free)} are free`,
    here === dataDir ? "" : "; it will be made",
    holder === null ? "" : `; process ${holder} holds it`,
  ].join("");
  const advice = "make room, or set DATA_DIR to a directory on another disk";
  if (free < leastFreeBytes) return failure("data directory", found, advice);
  return free < comfortableBytes ? warning("data directory", found, advice) : ok("data directory", found);
}

/** What does not exist yet is made in the first of its parents that does. */
async function nearestExisting(path: string): Promise<string> {
  const there = await stat(path).then(
    () => true,
    ({ code }: NodeJS.ErrnoException) => code !== "ENOENT",
  );
  const parent = join(path, "..");
  return there || parent === path ? path : nearestExisting(parent);
}

/** The process that holds the directory's lock: its socket answers while it lives. */
async function holderOf(directory: string): Promise<string | null> {
  for (const name of await readdir(directory)) {
    const pid = /^lock\.(\d+)\./.exec(name)?.[1];
    if (pid !== undefined && (await answers(join(directory, name)))) return pid;
  }
  return null;
}

async function answers(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** As much as a probe of the packaged registry measures in some hours. */
const muchSpooled = 64 * mebibyte;

async function spoolFound(dataDir: string): Promise<Finding> {
  const root = join(dataDir, "spool");
  const entries = await readdir(root, {
    recursive: true,
    withFileTypes: true,
  }).catch(orMissing([]));
  let samples = 0;
  let bytes = 0;
  for (const { name, parentPath } of entries.filter(isSegment)) {
    const file = await readLines(join(parentPath, name));
    samples += file.lines;
    bytes += file.bytes;
  }
  // of a file that is being delivered nobody else knows how far it is
  const found = `at most ${samples} samples wait for the database, in ${inMebibytes(bytes)}`;
  return bytes < muchSpooled
    ? ok("spool", found)
    : warning(
        "spool",
        found,
        "look after the database: they are delivered as soon as it takes them, those of the last seven days",
      );
}

function isSegment(entry: Dirent): boolean {
  return entry.isFile() && entry.name.endsWith(".samples");
}

/** A line is a sample (probe/delivery/spool-record.ts). */
async function readLines(path: string): Promise<{ lines: number; bytes: number }> {
  const read = { lines: 0, bytes: 0 };
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      read.bytes += chunk.length;
      for (let at = -1; (at = chunk.indexOf(newline, at + 1)) >= 0;) read.lines += 1;
    }
    return read;
  } catch (error) {
    // delivered meanwhile
    return orMissing({ lines: 0, bytes: 0 })(error as NodeJS.ErrnoException);
  }
}

function orMissing<Value>(value: Value) {
  return (error: NodeJS.ErrnoException): Value => {
    if (error.code === "ENOENT") return value;
    throw error;
  };
}

function inMebibytes(bytes: number): string {
  return `${Math.floor(bytes / mebibyte)} MiB`;
}

/** Ports that `up` and single programs listen on. Taken ones are taken by us, where they say so. */
export async function portsFound(settings: Settings): Promise<Finding> {
  const ports = [
    ...portsOf(settings, "core"),
    ...portsOf(settings, "probe"),
    ...portsOf(settings, "web"),
    ...(settings.databaseUrl === null ? [embeddedPort(settings)] : []),
  ];
  // by number: one that is set for all is looked at once
  const wanted = new Map(ports.filter(({ port }) => port !== 0).map((one) => [one.port, one]));
  const states = await Promise.all(
    [...wanted.values()].map(async ({ port, host, setting }) => ({
      number: port,
      setting,
      state: await stateOf(port, host),
    })),
  );
  const taken = states.filter(({ state }) => state !== "free");
  const strangers = taken.filter(
    // the embedded database is looked at by itself
    ({ state, setting }) => state !== "ours" && setting !== "EMBEDDED_PORT",
  );
  const list = states.map(({ number, state }) => `${number} ${state}`);
  const found = list.join(", ") || "any free ones are taken";
  return strangers.length === 0
    ? ok("ports", found)
    : warning(
        "ports",
        found,
        `stop what listens on ${strangers.map(({ number }) => number).join(", ")}, or set ${[...new Set(strangers.map(({ setting }) => setting))].join(" and ")} to free ports`,
      );
}

async function stateOf(port: number, host: string): Promise<"free" | "ours" | "taken"> {
  const server = createServer();
  server.listen(port, host);
  try {
    await once(server, "listening");
    server.close();
    await once(server, "close");
    return "free";
  } catch {
    return (await isOurs(port, host)) ? "ours" : "taken";
  }
}

async function isOurs(port: number, host: string): Promise<boolean> {
  try {
    const answer = await fetch(`${addressOf(host, port)}/healthz`, {
      signal: AbortSignal.timeout(1_000),
    });
    const body = (await answer.json()) as { service?: unknown } | null;
    return typeof body?.service === "string";
  } catch {
    return false;
  }
}
