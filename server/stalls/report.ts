import type { RegionReport, StreamReport } from "./measure.js";
import { leastMs, leastPeriods, margin } from "./proposal.js";

/** The results as two tables for people: by stream, then by region. */
export function reportText(reports: readonly StreamReport[]): string {
  const rows = [streamHeader, ...reports.map(streamRow)];
  return [explanation, table(rows), "", table(regionRows(reports))].join("\n");
}

const count = new Intl.NumberFormat("en");
const threeDigits = new Intl.NumberFormat("en", {
  maximumSignificantDigits: 3,
});

const explanation = `\
Quiet periods are in seconds; each is one silence, however many slots it touched. Left out are those that touch an
incident of the stream or its socket, or an impairment of the region. If the incident is retracted, they count again.
A proposal is ${margin} times p99.9, at least a slot and at least ${leastMs / 1000} s, in whole seconds. It needs ${count.format(leastPeriods)} periods in one region.
False stalls are slots outside incidents and impairments in which the threshold would have seen a stall: their number,
and their number a day for one stream in one region.
`;

const streamHeader = [
  "stream",
  "from",
  "to",
  "periods",
  "left out",
  "p50",
  "p99",
  "p99.9",
  "max",
  "now",
  "false",
  "a day",
  "proposed",
  "false",
  "a day",
];

function streamRow(report: StreamReport): string[] {
  const { venue, stream, distribution, leftOut, longestMs, regions } = report;
  return [
    `${venue} ws:${stream.name}`,
    distribution?.from ?? "-",
    distribution?.to ?? "-",
    count.format(distribution?.periods ?? 0),
    count.format(leftOut),
    seconds(distribution?.p50Ms),
    seconds(distribution?.p99Ms),
    seconds(distribution?.p999Ms),
    seconds(longestMs),
    count.format(stream.stall.afterMs / 1000),
    ...falseStalls(regions, "falseNow"),
    ...proposalCells(report),
  ];
}

function proposalCells({ proposal, mostPeriods, regions }: StreamReport) {
  if (proposal !== null) return [count.format(proposal.afterMs / 1000), ...falseStalls(regions, "falseThen")];
  const [have, want] = [mostPeriods, leastPeriods].map((periods) => count.format(periods));
  return ["-", "-", "-", `too few: ${have} of ${want} wanted`];
}

/** A region with many more false stalls than the others has trouble of its own; the thresholds are not to blame. */
function regionRows(reports: readonly StreamReport[]): string[][] {
  const all = reports.flatMap(({ regions }) => regions);
  const ids = [...new Set(all.map(({ region }) => region))];
  return [
    ["all streams", "false now", "a day", "as proposed", "a day"],
    ...ids.map((id) => {
      const one = all.filter(({ region }) => region === id);
      return [id, ...falseStalls(one, "falseNow"), ...falseStalls(one, "falseThen")];
    }),
  ];
}

/** Their number, and their number a day. */
function falseStalls(regions: readonly RegionReport[], which: "falseNow" | "falseThen"): [string, string] {
  const stalls = regions.reduce((sum, region) => sum + region[which], 0);
  const days = regions.reduce((sum, { measuredDays }) => sum + measuredDays, 0);
  return [count.format(stalls), days === 0 ? "-" : threeDigits.format(stalls / days)];
}

function seconds(ms: number | null | undefined): string {
  return typeof ms === "number" ? threeDigits.format(ms / 1000) : "-";
}

/** Names are left-aligned, numbers right-aligned. Cells beyond the header's are not aligned. */
function table(rows: readonly string[][]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column] ?? 0)))
        .join("  "),
    )
    .join("\n");
}
