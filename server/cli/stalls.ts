import { databaseUrlOf, readSettings } from "../../shared/config/settings.js";
import { databaseFault } from "../../shared/database/fault.js";
import { connect, type Db } from "../../shared/database/pool.js";
import { makeLog } from "../../shared/log/log.js";
import { UserError } from "../../shared/process/user-error.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import type { Registry, StallThreshold, Stream } from "../../shared/registry/registry.js";
import { runToEnd } from "../process/lifecycle.js";
import type { Action, Given } from "./command.js";
import { plainTable } from "./print.js";

/** How long raw samples are kept (sql/rollups/010-retention-periods.sql). */
export const mostDays = 8;

/** A week, because nights and weekends are quieter than working hours, and are healthy all the same. */
const defaultDays = 7;

/**
 * A threshold is this many times the 99.9th percentile of quiet periods. A region hears some four thousand of them a
 * day, of which a few exceed that percentile: few enough for a limit of healthy silence, and enough to measure it. The
 * longest of all would be a matter of luck. Long silences of a healthy stream become rarer at least as fast as long
 * gaps between random arrivals, of which one in a million exceeds twice the percentile.
 */
const thresholdMargin = 2;

/**
 * The shortest threshold. A client that has received nothing for a shorter time has no reason yet to consider the
 * stream dead.
 */
const leastMs = 10_000;

/**
 * How many quiet periods a proposal needs from the region that heard most of them. Ten of them then exceed the
 * percentile, so that it does not depend on a single one. The periods of several regions do not add up here, because
 * all regions hear the same silences of a venue. A busy stream has this many in two and a half days.
 */
export const leastPeriods = 10_000;

export const help = `A stream that is silent longer than its stall threshold has stalled.`;

export const actions: Record<string, Action> = {
  measure: {
    summary: "measure how long streams are silent, and propose thresholds",
    help: `Measures from the samples how long each stream of the registry is silent while it works, and proposes stall
thresholds: ${thresholdMargin} times the 99.9th percentile of its quiet periods, in whole seconds, at least a slot and at least ${leastMs / 1000} s,
where a region heard ${leastPeriods} of them. It prints them as overrides for the list "venues" of your registry, and
changes nothing. The rights of a web login suffice. On the embedded database, others wait for up to a second at a time.`,
    options: {
      days: { type: "string", help: `days to look back, 1 to ${mostDays} (default ${defaultDays})` },
    },
    run: runMeasure,
  },
};

/** Without a limit, a statement on a server that vanished would wait for a quarter of an hour. */
const statementTimeoutMs = 60_000;

async function runMeasure({ values }: Given): Promise<void> {
  const days = parseDays(values["days"] as string | undefined);
  const settings = readSettings();
  const log = makeLog("stalls", settings.logLevel);
  await runToEnd(log, async (life) => {
    const registry = await loadRegistry(settings.registry, settings.probesPerAddress ?? 1);
    const url = databaseUrlOf(settings);
    const pool = await connect(url, { applicationName: "stalls", log, max: 1, statementTimeoutMs });
    life.onClose("database connection", pool.close);
    log.info("reading samples", { days, registry: settings.registry });
    const reports = await measureStalls(pool, registry, { days, now: new Date() }).catch((error: unknown) => {
      throw databaseFault(error, url) ?? error;
    });
    process.stdout.write(reportText(reports));
  });
}

function parseDays(text: string | undefined): number {
  if (text === undefined) return defaultDays;
  const days = /^\d{1,3}$/.test(text) ? Number(text) : NaN;
  if (days >= 1 && days <= mostDays) return days;
  throw new UserError(
    `--days: expected a whole number from 1 to ${mostDays}, as samples are kept for ${mostDays} days, got ${JSON.stringify(text)}`,
  );
}

/** A row of `quiet_periods.sql`: a length of silence, and how often a region heard it. */
export interface Silence {
  quietMs: number;
  slots: number;
  periods: number;
  leftOut: number;
  /** Null where `periods` is 0. */
  firstDay: string | null;
  lastDay: string | null;
}

interface StreamReport {
  /** Registry id. */
  venue: string;
  stream: Stream;
  /** Over all regions; null if there was no quiet period. */
  distribution: StallThreshold["distribution"];
  longestMs: number | null;
  /** How many quiet periods touch an incident of the stream or its socket, or an impairment of the region. */
  leftOut: number;
  /** The number of quiet periods in the region that heard most of them. */
  mostPeriods: number;
  /** Null if there were too few quiet periods. */
  proposal: StallThreshold | null;
  /** Time measured outside trouble, added up over the regions. */
  measuredDays: number;
  /** Slots outside trouble in which the present threshold would have seen a stall. */
  falseNow: number;
  /** The same for the proposed threshold, or for the present one if none is proposed. */
  falseThen: number;
}

/** Measures every stream of the registry, over the last `days` times 24 hours. It only reads. */
export async function measureStalls(
  db: Db,
  { venues, regions }: Registry,
  { days, now }: { days: number; now: Date },
): Promise<StreamReport[]> {
  const from = new Date(+now - days * 86_400_000);
  const reports = [];
  for (const { id, socket } of venues)
    for (const stream of socket?.streams ?? []) {
      const heard: Silence[][] = [];
      for (const region of regions)
        heard.push(await db.file("quiet_periods", [id, `ws:${stream.name}`, region.id, from, now, stream.cadenceMs]));
      reports.push(reportOf(id, stream, heard));
    }
  return reports;
}

/** @param heard what each region heard */
function reportOf(venue: string, stream: Stream, heard: readonly Silence[][]): StreamReport {
  const silences = heard.flat().sort((a, b) => a.quietMs - b.quietMs);
  const distribution = distributionOf(silences);
  const mostPeriods = Math.max(...heard.map((one) => totalOf(one, "periods")));
  const proposal = distribution !== null && mostPeriods >= leastPeriods ? thresholdFrom(distribution, stream) : null;
  // as in the probe, a silence that is exactly as long as the threshold is not a stall
  const stalled = (afterMs: number) =>
    totalOf(
      silences.filter(({ quietMs }) => quietMs > afterMs),
      "slots",
    );
  return {
    ...{ venue, stream, distribution, mostPeriods, proposal },
    longestMs: silences.findLast(({ periods }) => periods > 0)?.quietMs ?? null,
    leftOut: totalOf(silences, "leftOut"),
    measuredDays: (totalOf(silences, "slots") * stream.cadenceMs) / 86_400_000,
    falseNow: stalled(stream.stall.afterMs),
    falseThen: stalled((proposal ?? stream.stall).afterMs),
  };
}

/** @param silences shortest first */
export function distributionOf(silences: readonly Silence[]): StallThreshold["distribution"] {
  const found = silences.filter(({ periods }) => periods > 0);
  if (found.length === 0) return null;
  const periods = totalOf(found, "periods");
  const inOrder = found.flatMap(({ firstDay, lastDay }) => [firstDay!, lastDay!]).sort();
  /** By nearest rank, and per mille, because a float cannot represent 0.999 exactly. */
  function percentile(perMille: number): number {
    let counted = 0;
    return found.find((one) => (counted += one.periods) * 1000 >= periods * perMille)!.quietMs;
  }
  return {
    ...{ periods, from: inOrder[0]!, to: inOrder.at(-1)! },
    ...{ p50Ms: percentile(500), p99Ms: percentile(990), p999Ms: percentile(999) },
  };
}

/** Never shorter than a slot: it would call a slot stalled in which the stream fell silent and then sent again. */
export function thresholdFrom(
  distribution: NonNullable<StallThreshold["distribution"]>,
  { cadenceMs }: Stream,
): StallThreshold {
  const wantedMs = Math.max(thresholdMargin * distribution.p999Ms, leastMs, cadenceMs);
  return { afterMs: Math.ceil(wantedMs / 1000) * 1000, distribution };
}

function totalOf(silences: readonly Silence[], what: "slots" | "periods" | "leftOut"): number {
  return silences.reduce((sum, silence) => sum + silence[what], 0);
}

const reportExplanation = `\
Quiet periods are in seconds; each is one silence, however many slots it touched. Left out are those that touch an
incident of the stream or its socket, or an impairment of the region. If the incident is retracted, they count again.
False stalls are slots outside incidents and impairments in which the threshold would have seen a stall: their number,
and their number a day for one stream in one region.
`;

const headerRow = [
  ...["stream", "from", "to", "periods", "left out", "p50", "p99", "p99.9", "max"],
  ...["now", "false", "a day", "proposed", "false", "a day"],
];

/** A table of the streams, and the proposals as overrides, a line for each venue. */
function reportText(reports: readonly StreamReport[]): string {
  const proposed = reports.filter(({ proposal }) => proposal !== null);
  const table = plainTable([headerRow, ...reports.map(rowOf)]);
  const count = `Proposals for ${proposed.length} of ${reports.length} streams`;
  if (proposed.length === 0) return `${reportExplanation}\n${table}\n${count}.\n`;
  return `${reportExplanation}\n${table}\n${count}, for the list "venues" of a registry:\n\n${overridesText(proposed)}`;
}

const numberFormat = new Intl.NumberFormat("en");
const threeDigits = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

function rowOf(report: StreamReport): string[] {
  const { venue, stream, distribution, leftOut, longestMs, mostPeriods, proposal, measuredDays } = report;
  const seconds = (ms: number | null | undefined) => (typeof ms === "number" ? threeDigits.format(ms / 1000) : "-");
  const stalls = (slots: number) => [
    numberFormat.format(slots),
    measuredDays === 0 ? "-" : threeDigits.format(slots / measuredDays),
  ];
  return [
    ...[`${venue} ws:${stream.name}`, distribution?.from ?? "-", distribution?.to ?? "-"],
    ...[numberFormat.format(distribution?.periods ?? 0), numberFormat.format(leftOut)],
    ...[distribution?.p50Ms, distribution?.p99Ms, distribution?.p999Ms, longestMs].map(seconds),
    ...[numberFormat.format(stream.stall.afterMs / 1000), ...stalls(report.falseNow)],
    ...(proposal === null
      ? [`too few: ${numberFormat.format(mostPeriods)} of ${numberFormat.format(leastPeriods)} in a region`, "-", "-"]
      : [numberFormat.format(proposal.afterMs / 1000), ...stalls(report.falseThen)]),
  ];
}

function overridesText(reports: readonly StreamReport[]): string {
  const venues = [...new Set(reports.map(({ venue }) => venue))];
  const lines = venues.map((id) => {
    const streams = reports
      .filter(({ venue }) => venue === id)
      .map(({ stream, proposal }) => [stream.name, { stall: proposal }]);
    return JSON.stringify({ id, override: { socket: { streams: Object.fromEntries(streams) as object } } });
  });
  return `${lines.join(",\n")}\n`;
}
