/** Checks this machine: limit of open files, data directory, spool, ports. */
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

/** For the database, the log and the API's clients. */
const otherFiles = 200;

/** @param limit of open files for this process; null where it is not known */
export function filesFound({ venues }: Registry, limit = openFileLimit()): Finding {
  const connections = venues.reduce(
    (sum, { rest, socket }) =>
      // two during a renewal
      sum + 2 * (rest.length + (socket ? 1 + socket.streams.length : 0)),
    0,
  );
  const needed = connections + otherFiles;
  if (limit === null) return ok("open files", `at most ${needed} are needed; the limit is not known`);
  const found = `${limit} are allowed, at most ${needed} are needed`;
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
    // Node raises the soft limit to the hard limit
    const limits = readFileSync("/proc/self/limits", "utf8");
    const [, soft = ""] = /^Max open files\s+(\S+)/m.exec(limits) ?? [];
    return /^\d+$/.test(soft) ? Number(soft) : null;
  } catch {
    return null;
  }
}

/**
 * Below the first the embedded database and the spool will soon fail; below the second the operator should free space.
 */
const leastFreeBytes = 512 * mebibyte;
const comfortableBytes = 5 * 1024 * mebibyte;

/** Only the embedded database and probes store anything there. */
export async function dataDirFound({
  dataDir,
  databaseUrl,
  region,
}: Pick<Settings, "dataDir" | "databaseUrl" | "region">): Promise<Finding[]> {
  if (databaseUrl !== null && region === null)
    return [ok("data directory", "not used: no REGION, and DATABASE_URL is set")];
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
  const advice = "make it readable for this user, and check the disk";
  return [
    await made("data directory", () => roomFound(dataDir, here), isErrno, advice),
    ...(here === dataDir ? [await made("spool", () => spoolFound(dataDir), isErrno, advice)] : []),
  ];
}

/** Not Node's own codes such as ERR_…, which mean wrong calls. */
function isErrno(code: string): boolean {
  return /^E[A-Z0-9]+$/.test(code);
}

async function roomFound(dataDir: string, here: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(here);
  const free = bavail * bsize;
  const holder = here === dataDir ? await holderOf(dataDir) : null;
  const found = [
    `${dataDir} is writable, ${inMebibytes(free)} are free`,
    here === dataDir ? "" : "; it will be created",
    holder === null ? "" : `; process ${holder} uses it`,
  ].join("");
  const advice = "free space, or set DATA_DIR to a directory on another disk";
  if (free < leastFreeBytes) return failure("data directory", found, advice);
  return free < comfortableBytes ? warning("data directory", found, advice) : ok("data directory", found);
}

/** The path, or its nearest parent that exists, in which it will be created. */
async function nearestExisting(path: string): Promise<string> {
  const exists = await stat(path).then(
    () => true,
    ({ code }: NodeJS.ErrnoException) => code !== "ENOENT",
  );
  const parent = join(path, "..");
  return exists || parent === path ? path : nearestExisting(parent);
}

/** The process that holds the directory's lock: its socket accepts connections while it lives. */
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

/** A few hours of samples of a probe with the packaged registry. */
const warnSpoolBytes = 64 * mebibyte;

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
  // at most, since only the probe knows how much of a file it has already delivered
  const found = `at most ${samples} samples wait for the database, in ${inMebibytes(bytes)}`;
  return bytes < warnSpoolBytes
    ? ok("spool", found)
    : warning(
        "spool",
        found,
        "check the database: samples of the last seven days are delivered as soon as it accepts them",
      );
}

function isSegment(entry: Dirent): boolean {
  return entry.isFile() && entry.name.endsWith(".samples");
}

/** Each line is a sample (probe/delivery/spool-record.ts). */
async function readLines(path: string): Promise<{ lines: number; bytes: number }> {
  const read = { lines: 0, bytes: 0 };
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      read.bytes += chunk.length;
      for (let at = -1; (at = chunk.indexOf(newline, at + 1)) >= 0;) read.lines += 1;
    }
    return read;
  } catch (error) {
    // the file was delivered meanwhile
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

/** The ports of `up` and of single programs. A port that answers as one of our programs counts as ours. */
export async function portsFound(settings: Settings): Promise<Finding> {
  const ports = [
    ...portsOf(settings, "core"),
    ...portsOf(settings, "probe"),
    ...portsOf(settings, "web"),
    ...(settings.databaseUrl === null ? [embeddedPort(settings)] : []),
  ];
  // by number, so that a port that is set for all programs is checked once
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
    // the embedded database has its own check
    ({ state, setting }) => state !== "ours" && setting !== "EMBEDDED_PORT",
  );
  const list = states.map(({ number, state }) => `${number} ${state}`);
  const found = list.join(", ") || "any free ports will be used";
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
