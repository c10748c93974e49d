import { readFileSync } from "node:fs";
import { version } from "../../../shared/config/package.js";
import { brandOf, readSettings, type Settings } from "../../../shared/config/settings.js";
import { type Log, makeLog } from "../../../shared/log/log.js";
import { UserError } from "../../../shared/process/user-error.js";
import { measuredIn } from "../../../shared/registry/addresses.js";
import { needsCredentials, withCredentials } from "../../../shared/registry/credentials.js";
import { ageAdvice, ageSentences, agesOf } from "../../../shared/registry/entry-age.js";
import { loadRegistry } from "../../../shared/registry/load-registry.js";
import type { Registry } from "../../../shared/registry/registry.js";
import { withoutEnded } from "../../../shared/registry/venue-end.js";
import { runToEnd } from "../../process/lifecycle.js";
import type { Given, Options } from "../command.js";
import { print } from "../print.js";
import { databaseFound } from "./database.js";
import { type Finding, ok, warning, failure } from "./finding.js";
import { resolverFound, venuesReached } from "./venues.js";

export const help = `Checks what the programs do not report themselves: the version of Node, settings and registry with the age of its
entries, open files, the database with its schema, rights, probes and engine, components that were never good, the
resolver, and every venue: it measures each endpoint and opens each socket once, with the code of the probe, and compares
this machine's clock with the dates of the answers. It prints what it found and what to do, within half a minute, and
writes nothing. Run it on the machine of the program to check, with the same settings. The
exit code is 2 when a check failed; warnings do not count.`;

export const options = {
  json: { type: "boolean", help: "print JSON" },
} satisfies Options;

export async function run({ values }: Given): Promise<void> {
  const log = makeLog("doctor", "error");
  await runToEnd(log, async () => {
    const findings = await allFindings(log);
    const failed = findings.filter(({ grade }) => grade === "failure");
    print(values["json"], { ok: failed.length === 0, findings }, findings.map(textOf).join(""));
    if (failed.length > 0)
      throw new UserError(
        `doctor: ${failed.length} of ${findings.length} checks failed: ${failed.map(({ check }) => check).join(", ")}`,
      );
  });
}

async function allFindings(log: Log): Promise<Finding[]> {
  const settings = valueOrFinding("settings", readSettings);
  const node = nodeFound(new Date());
  if (!("value" in settings)) return [node, settings.finding];
  const registry = await loadedRegistry(settings.value);
  const now = new Date();
  const live = registry.value && withoutEnded(registry.value, +now);
  const asked = live && withTheirCredentials(live);
  const [database, venues] = await Promise.all([
    databaseFound(settings.value, registry.value, log),
    asked && reachFindings(measuredIn(asked.registry, settings.value.region), settings.value),
  ]);
  return [
    node,
    ok("settings", "valid"),
    ...lookFound(settings.value),
    registry.finding,
    ...(asked?.finding ? [asked.finding] : []),
    ...(live ? [entriesFound(live, now), filesFound(live)] : []),
    ...database,
    ...(venues ?? []),
  ];
}

/** Only web must have the files, and migrate. */
function lookFound(settings: Settings): Finding[] {
  const { logoFile, cssFile } = settings.look;
  if (logoFile === null && cssFile === null) return [];
  try {
    brandOf(settings);
    return [ok("look", "the logo and the style sheet can be read")];
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const advice = "correct this if web or migrate runs here: they do not start with it";
    return [warning("look", error.message, advice)];
  }
}

/** Where they are missing, the venues that need them are not asked. Only probes must have them. */
function withTheirCredentials(registry: Registry): { registry: Registry; finding: Finding | null } {
  const needing = registry.venues.filter(needsCredentials);
  if (needing.length === 0) return { registry, finding: null };
  try {
    const found = `those of ${needing.map(({ id }) => id).join(", ")} can be read`;
    return { registry: withCredentials(registry), finding: ok("credentials", found) };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const venues = registry.venues.filter((venue) => !needing.includes(venue));
    const advice = "correct this if a probe runs here: without them it does not start";
    return { registry: { ...registry, venues }, finding: warning("credentials", error.message, advice) };
  }
}

/** The addresses of venues change, and so do their answers. */
export function entriesFound(registry: Registry, now: Date): Finding {
  const sentences = ageSentences(agesOf(registry, now));
  return sentences.length === 0
    ? ok("entries", "none of the registry is old, and nothing ends soon")
    : warning("entries", sentences.join("; "), ageAdvice);
}

async function reachFindings(registry: Registry, { region, siteUrl }: Settings): Promise<Finding[]> {
  const userAgent = `venuewatch/${version} (+${siteUrl}; region=${region ?? "none"})`;
  const [resolver, { findings, clock }] = await Promise.all([
    resolverFound(registry),
    venuesReached(registry, userAgent),
  ]);
  return [resolver, clock, ...findings];
}

function valueOrFinding<Value>(check: string, read: () => Value): { value: Value } | { finding: Finding } {
  try {
    return { value: read() };
  } catch (error) {
    return { finding: failureOf(check, error) };
  }
}

async function loadedRegistry({
  registry: path,
  probesPerAddress,
  region,
}: Settings): Promise<{ value: Registry | null; finding: Finding }> {
  try {
    const registry = await loadRegistry(path, probesPerAddress ?? 1);
    const ids = registry.regions.map(({ id }) => id);
    const found = `${registry.venues.length} venues and ${ids.length} regions in ${path}`;
    const finding =
      region === null || ids.includes(region)
        ? ok("registry", found)
        : failure("registry", `${found}, but not REGION=${region}`, `set REGION to one of ${ids.join(", ")}`);
    return { value: registry, finding };
  } catch (error) {
    return { value: null, finding: failureOf("registry", error) };
  }
}

/** @throws the error itself if it is a bug */
function failureOf(check: string, error: unknown): Finding {
  if (!(error instanceof UserError)) throw error;
  return failure(check, error.message, "correct this");
}

const gradeMarks = { ok: "ok", warning: "WARNING", failure: "FAILURE" };

function textOf({ check, grade, found, advice }: Finding): string {
  const line = `${gradeMarks[grade].padEnd(8)}${check.padEnd(24)} ${found}\n`;
  return advice === null ? line : `${line}${" ".repeat(33)}→ ${advice}\n`;
}

// Checks what the programs need of this machine: the line of Node, and the limit of open files.

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

// The Node release lines that this release supports, and their end of life.

export interface NodeLine {
  major: number;
  /** The last day with security fixes, in UTC: `2028-04-30`. */
  endOfLife: string;
}

/**
 * Even majors, from the oldest that `engines` in package.json allows: odd ones are maintained only for half a year.
 * `make test-node-lines` runs the core tests on each.
 *
 * Source: https://github.com/nodejs/Release#release-schedule, as of 2026-11-23.
 */
export const nodeLines: readonly NodeLine[] = [
  { major: 20, endOfLife: "2026-04-30" },
  { major: 22, endOfLife: "2027-04-30" },
  { major: 24, endOfLife: "2028-04-30" },
  { major: 26, endOfLife: "2029-04-30" },
];

/** @returns the supported lines that are still maintained at that time, oldest first */
function maintainedLines(now: Date): NodeLine[] {
  return nodeLines.filter((line) => isMaintained(line, now));
}

function isMaintained({ endOfLife }: NodeLine, now: Date): boolean {
  return now.toISOString().slice(0, 10) <= endOfLife;
}
