/** Checks what the programs need of this machine: the line of Node, and the limit of open files. */
import { readFileSync } from "node:fs";
import { version } from "../../../shared/config/package.js";
import type { Registry } from "../../../shared/registry/registry.js";
import { type Finding, failure, ok, warning } from "./finding.js";
import { isMaintained, maintainedLines, nodeLines } from "./node-lines.js";

/**
 * Checks that Node is of a line that this release is tested on and that still gets security fixes. cli.ts already
 * refuses a version that is too old.
 */
export function nodeFound(now: Date, nodeVersion = process.versions.node): Finding {
  const found = `venuewatch ${version} on Node ${nodeVersion}`;
  const major = Number(nodeVersion.split(".")[0]);
  const line = nodeLines.find((line) => line.major === major);
  if (!line)
    return warning(
      "versions",
      `${found}; this release is tested on Node ${inWords(nodeLines.map((line) => line.major))}`,
      adviceAt(now),
    );
  if (!isMaintained(line, now))
    return warning(
      "versions",
      `${found}; Node ${major} has had no security fixes since ${line.endOfLife}`,
      adviceAt(now),
    );
  return ok("versions", found);
}

function adviceAt(now: Date): string {
  const lines = maintainedLines(now).map(({ major, endOfLife }) => `${major} (maintained until ${endOfLife})`);
  return lines.length > 0
    ? `run it on Node ${inWords(lines)}`
    : "install a newer release of venuewatch and a Node that it supports";
}

function inWords(items: readonly unknown[]): string {
  const last = items.at(-1);
  return items.length > 1 ? `${items.slice(0, -1).join(", ")} or ${String(last)}` : String(last);
}

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
