import { isMaintained, maintainedLines, nodeLines } from "./node-lines.js";
import { version } from "../../../shared/config/package.js";
import { type Finding, ok, warning } from "./finding.js";

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
