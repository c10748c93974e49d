import { version } from "../../../shared/config/package.js";
import { readSettings } from "../../../shared/config/settings.js";
import { makeLog } from "../../../shared/log/log.js";
import { UserError } from "../../../shared/process/user-error.js";
import { withCredentials } from "../../../shared/registry/credentials.js";
import { readAmbiguousJson } from "../../../shared/registry/json-file.js";
import { isObject } from "../../../shared/registry/json-patch.js";
import { parseEntry, parseRegistry } from "../../../shared/registry/load-registry.js";
import type { Registry } from "../../../shared/registry/registry.js";
import { didYouMean } from "../../../shared/text/nearest-word.js";
import type { Given, Options } from "../command.js";
import { endWithAnswer } from "../exit.js";
import { partJson, partText } from "../measured-once.js";
import { plainTable } from "../print.js";
import type { TriedPart } from "./listen.js";
import { proposalFor, proposalsText } from "./propose.js";
import { tried } from "./tried.js";

const usualSeconds = 30;
const mostMinutes = 60;

export const help = `Measures the venue of an entry once from this machine, and prints what each path, condition and subscription of the
entry finds. FILE has one venue's entry, or is a registry with its venues; it need not be in use. Each endpoint is asked
once, within half of the entry's limits, and the streams are heard for ${usualSeconds} s. With --minutes 10 they are heard longer, and it
proposes their usual rates and stall thresholds. Ctrl-C ends it with what was found so far. It needs no database.

The exit code is 0 if everything found its value, and 1 if something did not. An entry that is wrong ends it with 2.`;

export const words = ["FILE"];

export const options = {
  venue: { type: "string", help: "the id of the venue, if the file has several" },
  minutes: {
    type: "string",
    help: `how long to listen, 1 to ${mostMinutes} (default: ${usualSeconds} s, without proposals)`,
  },
  json: { type: "boolean", help: "print JSON" },
} satisfies Options;

export async function run({ values, words: [file = ""] }: Given): Promise<void> {
  const minutes = minutesOf(values["minutes"] as string | undefined);
  const registry = await chosenEntry(file, values["venue"] as string | undefined);
  const [venue] = registry.venues;
  const interrupt = new AbortController();
  process.once("SIGINT", () => interrupt.abort());
  const parts = await tried({
    ...{ registry, venue: venue!, log: makeLog("try", "error"), interrupt: interrupt.signal },
    userAgent: `venuewatch/${version} (+${readSettings().siteUrl}; try)`,
    listenMs: minutes === null ? usualSeconds * 1000 : minutes * 60_000,
  });
  const { json, text, exitCode } = reportOf(registry, parts, minutes !== null);
  const output = values["json"] === true ? `${JSON.stringify(json, null, 2)}\n` : text;
  await endWithAnswer(exitCode, output, interrupt.signal.aborted ? "interrupted: not everything was tried" : null);
}

function minutesOf(given: string | undefined): number | null {
  if (given === undefined) return null;
  const minutes = /^\d{1,2}$/.test(given) ? Number(given) : NaN;
  if (minutes >= 1 && minutes <= mostMinutes) return minutes;
  throw new UserError(
    `--minutes: expected a whole number from 1 to ${mostMinutes}, got ${JSON.stringify(given)}; without it, ${usualSeconds} s`,
  );
}

/** A registry with the one venue that is tried. */
async function chosenEntry(file: string, wanted: string | undefined): Promise<Registry> {
  const { value, repeated } = await readAmbiguousJson(file, "The entry");
  const isRegistry = isObject(value) && "venues" in value;
  const registry = isRegistry ? parseRegistry(value, file, { repeated }) : parseEntry(value, file, repeated);
  const ids = registry.venues.map(({ id }) => id);
  if (wanted === undefined && ids.length > 1)
    throw new UserError(`--venue: expected one of the ${ids.length} venues of ${file}, such as ${ids[0]}, got nothing`);
  const venue = registry.venues.find(({ id }) => id === (wanted ?? ids[0]));
  if (!venue) throw new UserError(`--venue: ${file} has no venue ${JSON.stringify(wanted)}${didYouMean(wanted!, ids)}`);
  return withCredentials({ ...registry, venues: [venue] });
}

interface TryReport {
  json: object;
  text: string;
  exitCode: 0 | 1;
}

/** @param isLong whether it was heard long enough for proposals */
export function reportOf({ venues: [venue] }: Registry, parts: readonly TriedPart[], isLong: boolean): TryReport {
  const missed = parts.flatMap(missedIn);
  const proposals = isLong ? parts.flatMap(({ heard }) => heard ?? []).flatMap((one) => proposalFor(one) ?? []) : [];
  const exitCode = missed.length === 0 ? 0 : 1;
  const summary = missed.length === 0 ? "everything found its value" : `not found or not good: ${missed.join("; ")}`;
  const json = { venue: venue!.id, exitCode, missed, parts: parts.map(jsonOf), proposals };
  const text = `${venue!.id}: ${summary}\n${parts.map(textOf).join("")}${proposalsText(proposals)}`;
  return { json, text, exitCode };
}

function isGood({ fault, unmeasured }: TriedPart): boolean {
  return fault === null && unmeasured === null;
}

function missedIn(part: TriedPart): string[] {
  const missing = part.findings
    .filter(({ ok }) => !ok)
    .map(({ field, wanted }) => `${part.component} ${field} ${wanted}`);
  return isGood(part) || missing.length > 0 ? missing : [partText(part)];
}

function jsonOf({ findings, heard, ...part }: TriedPart): object {
  const { frames, perMinute, eventAgeMs, gaps } = heard ?? {};
  return { ...partJson(part), ...(heard && { frames, perMinute, eventAgeMs, gaps }), findings };
}

function textOf(part: TriedPart): string {
  const { component, httpStatus, tookMs, findings } = part;
  const good = [`status ${httpStatus}`, `${Math.round(tookMs ?? 0)} ms`].slice(httpStatus === null ? 1 : 0);
  const title = isGood(part) ? `${component}: good${tookMs === null ? "" : ` (${good.join(", ")})`}` : partText(part);
  // words that the venue does not say are worth a line only if their path leads somewhere
  const shown = findings.filter(({ field, ok, value }) => !ok || value !== null || !saidFields.has(field));
  const rows = shown.map(({ field, wanted, value, ok, note }) => [
    ...[`  ${ok ? "ok" : "NO"}`, field, wanted, value ?? "nothing", note ?? ""],
  ]);
  return `\n${title}\n${plainTable(rows)}`;
}

const saidFields: ReadonlySet<string> = new Set(["blocked", "limited", "halted"]);
