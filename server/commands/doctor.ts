import type { Given, Options } from "../cli/command.js";
import { runToEnd } from "../process/lifecycle.js";
import { type Log, makeLog } from "../../shared/log/log.js";
import { version } from "../../shared/config/package.js";
import { type Registry } from "../../shared/registry/registry.js";
import { ageAdvice, ageSentences, agesOf } from "../../shared/registry/entry-age.js";
import { needsCredentials, withCredentials } from "../../shared/registry/credentials.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import { measuredIn } from "../../shared/registry/region-hosts.js";
import { readSettings, type Settings } from "../../shared/config/settings.js";
import { UserError } from "../../shared/process/user-error.js";
import { databaseFound } from "./doctor/database.js";
import { type Finding, failure, ok, warning } from "./doctor/finding.js";
import { filesFound, nodeFound } from "./doctor/machine.js";
import { resolverFound, venuesReached } from "./doctor/venues.js";
import { print } from "./print.js";

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
    const findings = await examine(log);
    const failed = findings.filter(({ grade }) => grade === "failure");
    print(values["json"], { ok: failed.length === 0, findings }, findings.map(textOf).join(""));
    if (failed.length > 0)
      throw new UserError(
        `doctor: ${failed.length} of ${findings.length} checks failed: ${failed.map(({ check }) => check).join(", ")}`,
      );
  });
}

async function examine(log: Log): Promise<Finding[]> {
  const settings = valueOrFinding("settings", readSettings);
  const node = nodeFound(new Date());
  if (!("value" in settings)) return [node, settings.finding];
  const registry = await loaded(settings.value);
  const asked = registry.value && withTheirCredentials(registry.value);
  const [database, venues] = await Promise.all([
    databaseFound(settings.value, registry.value, log),
    asked && reach(measuredIn(asked.registry, settings.value.region), settings.value),
  ]);
  return [
    node,
    ok("settings", "valid"),
    registry.finding,
    ...(asked?.finding ? [asked.finding] : []),
    ...(registry.value ? [entriesFound(registry.value, new Date()), filesFound(registry.value)] : []),
    ...database,
    ...(venues ?? []),
  ];
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

async function reach(registry: Registry, { region, siteUrl }: Settings): Promise<Finding[]> {
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
    return { finding: wrong(check, error) };
  }
}

async function loaded({
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
    return { value: null, finding: wrong("registry", error) };
  }
}

/** @throws the error itself if it is a bug */
function wrong(check: string, error: unknown): Finding {
  if (!(error instanceof UserError)) throw error;
  return failure(check, error.message, "correct this");
}

const marks = { ok: "ok", warning: "WARNING", failure: "FAILURE" };

function textOf({ check, grade, found, advice }: Finding): string {
  const line = `${marks[grade].padEnd(8)}${check.padEnd(24)} ${found}\n`;
  return advice === null ? line : `${line}${" ".repeat(33)}→ ${advice}\n`;
}
