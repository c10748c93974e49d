/** The text report of a replay. */
import { type Incident, type ComparisonLine, type IncidentDifference, endOf, incidentOf } from "./compare-incidents.js";
import type { Replay } from "./replay.js";
import type { ChangedRule } from "./rule-overrides.js";

export interface Totals {
  recorded: SideTotals;
  replayed: SideTotals;
  verdicts: Record<ComparisonLine["verdict"], number>;
}

interface SideTotals {
  /** All that were open in the period, including those retracted by its end. */
  incidents: number;
  retracted: number;
  /** Openings within the period. Each writes an alert. */
  openings: number;
  /** Within the period, without retracted incidents; two components at once count twice. */
  incidentMinutes: number;
}

export function totalsOf({ lines, from, to }: Replay): Totals {
  const of = (side: "recorded" | "replayed"): SideTotals => {
    const incidents = lines.flatMap((line) => line[side] ?? []);
    const kept = incidents.filter(({ retractedAt }) => !retractedAt);
    const ms = kept.map((one) => +endOf(one, to) - Math.max(+one.startedAt, +from));
    return {
      incidents: incidents.length,
      retracted: incidents.length - kept.length,
      openings: incidents.filter(({ openedAt }) => openedAt >= from).length,
      incidentMinutes: Math.round(ms.reduce((sum, one) => sum + one, 0) / 6_000) / 10,
    };
  };
  const count = (verdict: ComparisonLine["verdict"]) => lines.filter((line) => line.verdict === verdict).length;
  return {
    recorded: of("recorded"),
    replayed: of("replayed"),
    verdicts: {
      same: count("same"),
      different: count("different"),
      "only recorded": count("only recorded"),
      "only in the replay": count("only in the replay"),
    },
  };
}

export function replayText(replay: Replay): string {
  const lines = tableOf(replay.lines);
  const none = "  no incidents, neither recorded nor in the replay";
  return [...headOf(replay), "", ...(lines.length > 0 ? lines : [none]), "", ...footOf(replay), ""].join("\n");
}

function headOf({ from, to, cut, venue, changed, instants, tookMs }: Replay): string[] {
  return [
    `Replay of ${toSecond(from)} to ${toSecond(to)}, ${venue ?? "all venues"}`,
    ...(cut ? ["The replay ends there: the engine has not decided later instants"] : []),
    ...(changed.length === 0
      ? ["Rules: the present ones, unchanged"]
      : ["Rules changed:", ...changed.map((rule) => `  ${ruleText(rule)}`)]),
    `${instants} instants decided in ${durationText(tookMs)}`,
  ];
}

function ruleText({ name, present, tried, unit, matters }: ChangedRule): string {
  const of = unit === "share" ? "" : ` ${unit}`;
  const note = matters ? "" : " (no effect on a replay)";
  return `${name} ${tried} instead of ${present}${of}${note}`;
}

/** Columns as wide as their longest cell. */
function tableOf(lines: ComparisonLine[]): string[] {
  const slugs = Math.max(...lines.map((one) => incidentOf(one).slug.length));
  const components = Math.max(...lines.map((one) => incidentOf(one).component.length));
  return lines.map((line) => {
    const { startedAt, slug, component } = incidentOf(line);
    return `  ${toSecond(startedAt)}  ${slug.padEnd(slugs)}  ${component.padEnd(components)}  ${summaryOf(line)}`;
  });
}

function summaryOf(line: ComparisonLine): string {
  const { recorded, replayed, differences } = line;
  const { retractedAt, byHand } = incidentOf(line);
  const parts = [verdictText(line)];
  if (recorded && replayed && recorded.slug !== replayed.slug) parts.push(`named ${replayed.slug} in the replay`);
  if (byHand) parts.push(`retracted by hand: ${byHand}`);
  else if (retractedAt && !differences.some(({ what }) => what === "retracted"))
    parts.push(`retracted ${toSecond(retractedAt)}`);
  return parts.join("; ");
}

function verdictText(line: ComparisonLine): string {
  const { verdict, differences, within } = line;
  if (verdict === "same") return "same";
  if (verdict === "different") return differences.map(differenceText).join(", ");
  const others = within.join(" and ");
  if (verdict === "only recorded")
    return `only recorded: ${others ? `part of ${others} in the replay` : "not opened by these rules"}`;
  return `only in the replay: ${others ? `part of the recorded ${others}` : lifeText(incidentOf(line))}`;
}

function lifeText({ peakSeverity, openedAt, closedAt }: Incident): string {
  const open = closedAt ? `for ${durationText(+closedAt - +openedAt)}` : "at the end";
  return `${peakSeverity}, open ${open}`;
}

function differenceText({ what, recorded, replayed, laterMs }: IncidentDifference): string {
  if (laterMs !== undefined) return `${what} ${durationText(Math.abs(laterMs))} ${laterMs < 0 ? "earlier" : "later"}`;
  if (what === "flapping") return replayed ? "flapping in the replay" : "not flapping in the replay";
  if (what === "severity") return `opened as ${String(replayed)} instead of ${String(recorded)}`;
  if (what === "peakSeverity") return `peak ${String(replayed)} instead of ${String(recorded)}`;
  return replayed === null ? `not ${what} in the replay` : `${what} only in the replay`;
}

/** `12 s`, `4 min 5 s`, `2 h 3 min`. */
function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (ms < 10_000 && ms % 1000 !== 0) return `${(ms / 1000).toFixed(1)} s`;
  if (seconds < 60) return `${seconds} s`;
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const parts =
    hours > 0 ? [`${hours} h`, minutes && `${minutes} min`] : [`${minutes} min`, seconds % 60 && `${seconds % 60} s`];
  return parts.filter(Boolean).join(" ");
}

function footOf(replay: Replay): string[] {
  const { recorded, replayed, verdicts } = totalsOf(replay);
  const row = (name: string, side: SideTotals) =>
    `${name} ${side.incidents} incidents (${side.retracted} retracted), ${side.openings} of them opened in the period, ${side.incidentMinutes} incident minutes`;
  return [
    row("recorded ", recorded),
    row("replayed ", replayed),
    Object.entries(verdicts)
      .map(([verdict, n]) => `${n} ${verdict}`)
      .join(", "),
    ...(replay.unwatched > 0
      ? [
          `Left out: ${replay.unwatched} recorded ${replay.unwatched === 1 ? "incident of a component that is" : "incidents of components that are"} no longer watched`,
        ]
      : []),
  ];
}

function toSecond(at: Date): string {
  return at.toISOString().replace(/\.000Z$/, "Z");
}
