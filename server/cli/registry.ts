import { readSettings } from "../../shared/config/settings.js";
import { makeLog } from "../../shared/log/log.js";
import { UserError } from "../../shared/process/user-error.js";
import { askedOrigins, limitUses, shownRate, usableShare } from "../../shared/registry/cadence.js";
import { catalogueDifferences } from "../../shared/registry/catalogue.js";
import { withoutOwnSecrets } from "../../shared/registry/credentials.js";
import { ageAdvice, agedAfterDays, ageSentences, agesOf, endsSoonDays } from "../../shared/registry/entry-age.js";
import { readJsonFile } from "../../shared/registry/json-file.js";
import { parseRegistry } from "../../shared/registry/load-registry.js";
import type { Limit, Registry } from "../../shared/registry/registry.js";
import { withoutEnded } from "../../shared/registry/venue-end.js";
import { didYouMean } from "../../shared/text/nearest-word.js";
import { runToEnd } from "../process/lifecycle.js";
import type { Actions, Given } from "./command.js";
import { plainTable, print } from "./print.js";

export const help = `The file REGISTRY lists the regions, and the venues and how each is measured.`;

export const actions: Actions["actions"] = {
  check: {
    summary: "list what may no longer be true, and the requests beside the limits of venues",
    help: `Lists how often the probes of one address ask each origin, beside the limits of the venues; entries that were
compared with their sources more than ${agedAfterDays} days ago; what ends within ${endsSoonDays} days or has ended; where the venues do not
serve everybody; and where overrides and whole entries differ from the catalogue, whose repairs do not reach them. It
sends no requests. The exit code is 2 if the registry is invalid, if a venue cannot be measured within its limits, or if
something has ended; the rest are warnings. Venues that have ended (endedAt) are left out.`,
    options: {
      probes: {
        type: "string",
        help: "how many probes share an address (default: PROBES_PER_ADDRESS, or 1; up runs one for each region)",
      },
      json: { type: "boolean", help: "print JSON" },
    },
    run: checkRegistry,
  },
  show: {
    summary: "print the registry with whole entries and the cadences that respect the limits",
    help: `Prints the registry as the programs use it: entries of the catalogue in full, with overrides applied, and cadences
that respect the limits for PROBES_PER_ADDRESS. With a venue, it has only that one. Addresses that the catalogue does
not have may contain keys, so they are cut. With --secrets they are whole, and the output can be used as a registry.`,
    words: ["[VENUE]"],
    options: { secrets: { type: "boolean", help: "print whole addresses, with the keys in them" } },
    run: showRegistry,
  },
  try: {
    summary: "measure the venue of an entry once, and print what each of its paths finds",
    load: () => import("./try/try.js"),
  },
};

async function checkRegistry({ values }: Given): Promise<void> {
  const { registry: path, probesPerAddress } = readSettings();
  const probes = probesOf(values["probes"] as string | undefined, probesPerAddress ?? 1);
  await runToEnd(makeLog("registry", "error"), async () => {
    const value = await readJsonFile(path, "The registry");
    const report = reportOf(value, path, probes, new Date());
    print(values["json"], report, textOf(report));
    const ended = report.ages.ends.filter(({ daysLeft }) => daysLeft <= 0).map(({ venue }) => venue);
    if (ended.length > 0) throw new UserError(`registry: something has ended of ${ended.join(", ")}; ${ageAdvice}`);
  });
}

function probesOf(given: string | undefined, setting: number): number {
  if (given === undefined) return setting;
  const probes = /^[0-9]{1,4}$/.test(given) ? Number(given) : NaN;
  if (probes >= 1 && probes <= 1000) return probes;
  throw new UserError(`--probes: expected a whole number from 1 to 1000, got ${JSON.stringify(given)}`);
}

type Report = ReturnType<typeof reportOf>;

function reportOf(value: unknown, path: string, probes: number, now: Date) {
  const registry = withoutEnded(parseRegistry(value, path, { probes }), +now);
  return {
    registry: path,
    probes,
    origins: originsOf(registry, probes),
    ages: agesOf(registry, now),
    blocked: registry.venues.flatMap(({ id, blockedIn }) => (blockedIn ? [{ venue: id, ...blockedIn }] : [])),
    differences: withoutOwnSecrets(catalogueDifferences(value)),
  };
}

/** The requests a minute, and what is allowed. */
function originsOf(registry: Registry, probes: number) {
  const uses = limitUses(registry, probes);
  const ofAccounts = registry.venues.flatMap(({ limits = [] }) => limits.filter(({ per }) => per === "account"));
  return askedOrigins(registry).map(({ origin, perMinute }) => ({
    origin,
    perMinute,
    allPerMinute: perMinute * probes,
    limits: uses
      .filter(({ limit }) => new URL(limit.origin).origin === origin)
      .map(({ limit, ...use }) => ({ ...limit, ...use, share: use.allPerMinute / use.limitPerMinute })),
    accountLimits: ofAccounts.filter((limit) => new URL(limit.origin).origin === origin),
  }));
}

function textOf({ probes, origins, ages, blocked, differences }: Report): string {
  const sentences = ageSentences(ages);
  return [
    `Requests a minute, of one probe and of ${probes} on one address; less than ${usableShare * 100} % of a limit is used:\n`,
    plainTable([
      ["origin", "one probe", `all ${probes}`, "limit", "half", "used", "what is counted"],
      ...origins.flatMap(rowsOf),
    ]),
    sectionText(
      "Entries",
      sentences.length > 0 ? [...sentences, `→ ${ageAdvice}`] : ["none is old, and nothing ends soon"],
    ),
    sectionText(
      "Not everywhere",
      blocked.map(({ venue, countries, source }) => `${venue} does not serve ${countries.join(", ")} (${source})`),
    ),
    sectionText(
      "Different from the catalogue, so no release changes it",
      differences.map(
        (one) => `${one.venue} ${one.place}: ${valueText(one.own)}; the catalogue has ${valueText(one.catalogue)}`,
      ),
    ),
  ].join("");
}

function rowsOf({ origin, perMinute, allPerMinute, limits, accountLimits }: Report["origins"][number]): string[][] {
  const rows = [
    ...limits.map((limit) => [
      ...[origin, shownRate(limit.perMinute), shownRate(limit.allPerMinute)],
      ...[shownRate(limit.limitPerMinute), shownRate(limit.usablePerMinute), `${(limit.share * 100).toFixed(1)} %`],
      countedBy(limit),
    ]),
    ...accountLimits.map((limit) => [
      ...[origin, shownRate(perMinute), shownRate(allPerMinute)],
      ...["-", "-", "-", `${countedBy(limit)} of an account; a probe has none`],
    ]),
  ];
  if (rows.length > 0) return rows;
  return [[origin, shownRate(perMinute), shownRate(allPerMinute), "-", "-", "-", "no limit is known"]];
}

function countedBy({ requests, periodMs, endpoints }: Limit): string {
  const of = endpoints ? ` of ${endpoints.join(", ")}` : "";
  return `${requests} in ${periodMs / 1000} s${of}`;
}

function sectionText(title: string, lines: string[]): string {
  return lines.length === 0 ? "" : `\n${title}:\n${lines.map((line) => `  ${line}\n`).join("")}`;
}

const longestShown = 80;

function valueText(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length <= longestShown ? text : `${text.slice(0, longestShown - 1)}…`;
}

async function showRegistry({ words: [wanted], values }: Given): Promise<void> {
  const { registry: path, probesPerAddress } = readSettings();
  const value = await readJsonFile(path, "The registry");
  const registry = parseRegistry(value, path, { probes: probesPerAddress ?? 1 });
  const ids = registry.venues.map(({ id }) => id);
  if (wanted !== undefined && !ids.includes(wanted))
    throw new UserError(`the registry ${path} has no venue ${JSON.stringify(wanted)}${didYouMean(wanted, ids)}`);
  const venues = registry.venues.filter(({ id }) => wanted === undefined || id === wanted);
  const whole = { ...registry, venues };
  const shown = values["secrets"] === true ? whole : withoutOwnSecrets(whole);
  print(true, shown, "");
  // a cut registry would be valid, but measured at addresses that do not exist
  if (JSON.stringify(shown) !== JSON.stringify(whole))
    process.stderr.write(
      "venuewatch: addresses of your own are cut; --secrets prints what can be used as a registry\n",
    );
}
