import type { RequestHandler } from "express";
import type { ComponentChildren, VNode } from "preact";
import type { Category, Registry } from "../../../shared/registry/registry.js";
import { parameterReader } from "../api/parameters.js";
import { queryOf } from "../api/request.js";
import type { TypeOf } from "../api/shapes.js";
import { reliabilityParameters, reliabilityResponse } from "../board/reliability.js";
import { type Windows, dataOf } from "../board/snapshot.js";
import { withoutEmpty } from "./board.js";
import { editionFor } from "./edition.js";
import { withForm } from "./form-reader.js";
import {
  counted,
  durationText,
  isolated,
  msText,
  nameList,
  percentText,
  withoutMaintenanceText,
  ageText,
} from "./format.js";
import { numberText, plural, t } from "./language.js";
import { answerPage, type Rendered } from "./page-answer.js";
import type { PageProps } from "./page.js";
import { Instant, WindowForm } from "./parts.js";
import { Table } from "./table.js";
import { compareWords, windowWords } from "./words.js";

export function compareRoute(registry: Registry, windows: Windows, rendered: Rendered): RequestHandler {
  const { days, category } = reliabilityParameters;
  const regionNames = new Map(registry.regions.map(({ id, name }) => [id, name]));
  const read = withForm(parameterReader({ days, category }), (window) => <WindowForm path="/compare" {...window} />);
  return async (request, response) => {
    const { days, category } = read(withoutEmpty(queryOf(request)));
    const snapshot = await windows.reliability(days, category);
    const page = () => comparePage({ reliability: dataOf(reliabilityResponse, snapshot), regionNames, category });
    const body = rendered(`compare ${days} ${category}`, [snapshot], page, editionFor(request));
    await answerPage(response, body);
  };
}

// `/compare`: how reliable the venues were, ranked no further than the measurements separate them.

export interface ComparePageProps {
  reliability: ReliabilityData;
  /** By id. */
  regionNames: ReadonlyMap<string, string>;
  category: Category | null;
}

export function comparePage({ reliability, regionNames, category }: ComparePageProps): PageProps {
  const age = ageText(reliability);
  const { days, venues, generatedAt } = reliability;
  const groups = rankGroups(reliability);
  const selection = `?days=${days}${category === null ? "" : `&category=${category}`}`;
  const json = `/v1/reliability${selection}`;
  const lead = leadOf(groups, venues.length, windowWords.during(days));
  return {
    ...{
      title: t`Venues compared ${windowWords.during(days)}`,
      icon: "unknown",
      section: "compare",
      json,
      generatedAt,
      decidedAt: reliability.decidedAt,
      age,
      refreshS: 60,
      description: lead,
      path: days === reliabilityParameters.days.absent && category === null ? "/compare" : `/compare${selection}`,
    },
    children: (
      <>
        <h1>{lead}</h1>
        <LeastTrouble first={groups[0]} />
        <WindowForm path="/compare" days={days} category={category} />
        <p>
          <a href="#more">{t`What these figures mean`}</a>
        </p>
        {venues.length > 0 && <Leaderboard data={reliability} groups={groups} />}
        <ExcludedPeriods data={reliability} regionNames={regionNames} />
        <More selection={selection} />
      </>
    ),
  };
}

function leadOf([first]: readonly RankGroup[], venues: number, during: string): string {
  if (!first) return t`No venue of this selection is measured yet.`;
  const { rank, rows } = first;
  if (rank === null) return t`No venue was measured enough ${during} to be ranked.`;
  if (rows.length === 1) return t`${isolated(rows[0]!.name)} alone has rank ${rank} ${during}.`;
  return rows.length === venues
    ? t`All ${venues} venues share rank ${rank} ${during}: the measurements do not separate them.`
    : t`${rows.length} of ${venues} venues share rank ${rank} ${during}: the measurements do not separate them.`;
}

/** Among the venues that share the first rank, those in which least went wrong. Nothing where these are all of them. */
function LeastTrouble({ first }: { first: RankGroup | undefined }) {
  if (first === undefined || first.rank === null) return null;
  const least = first.rows.filter((row) => byTrouble(row, first.rows[0]!) === 0);
  if (least.length === first.rows.length) return null;
  return (
    <p class="lead">
      {t`The least trouble among these: ${nameList(least.map(({ name }) => name))}, without failures in ${withoutFailuresText(least[0]!)} of the measured minutes.`}
    </p>
  );
}

function More({ selection }: { selection: string }) {
  const links = [
    [`/v1/reliability${selection}`, t`As JSON`],
    [`/v1/reliability.csv${selection}`, t`As CSV`],
    [`/v1/reliability.xlsx${selection}`, t`As a workbook for spreadsheets (XLSX)`],
    ["/methodology#five-definitions", t`How this is measured`],
  ] as const;
  return (
    <section aria-labelledby="more">
      <h2 id="more">{t`The same figures, and how they are made`}</h2>
      <p>
        {t`Uptime is the share of the measured minutes in which a venue was not down; in a minute without failures fewer than a fifth of each component's samples failed. Slow answers are no failures: they make incidents, which decide between equal shares. The bounds give the uptime of all scheduled minutes as if every unmeasured minute had been down, and as if none had. So of two venues whose bounds do not overlap, one was more available, whatever happened in the unmeasured minutes; the others share a rank. Days are UTC days, and today counts until a few minutes ago.`}
      </p>
      <ul>
        {links.map(([path, text]) => (
          <li key={path}>
            <a href={path}>{text}</a>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Minutes and lengths of several venues are not added up: nothing published does. */
type Line = ReliabilityRow | ReliabilityData["fleet"];

function isVenue(line: Line): line is ReliabilityRow {
  return "id" in line;
}

/** The venues by rank, with a row for all of them. */
function Leaderboard({ data, groups }: { data: ReliabilityData; groups: readonly RankGroup[] }) {
  const { venues, days, fleet } = data;
  const start = scaleStart(venues.flatMap(({ uptimePct, uptimePctLow }) => (uptimePct !== null ? uptimePctLow! : [])));
  return (
    <Table<Line>
      caption={t`Venues by rank ${windowWords.during(days)}`}
      rows={groups.flatMap(({ rows }) => rows)}
      groupOf={(line) => titleOf(groups.find(({ rows }) => isVenue(line) && rows.includes(line))!)}
      foot={fleet}
      columns={[
        { head: t`Venue`, cell: (line) => <Name line={line} /> },
        { head: t`Uptime`, kind: "figure", cell: (line) => <Uptime line={line} /> },
        { head: t`Without failures`, kind: "figure", cell: (line) => isVenue(line) && withoutFailuresText(line) },
        {
          head: start === null ? t`Bounds` : t`Bounds, drawn from ${percentText(start)} to ${percentText(100)}`,
          cell: (line) => <Bounds line={line} start={start} />,
        },
        {
          head: t`Measured`,
          kind: "figure",
          cell: ({ coveragePct: pct }) => (pct === null ? t`not measured` : percentText(pct)),
        },
        {
          head: t`Minutes down`,
          kind: "figure",
          cell: (line) => isVenue(line) && (line.downMinutes ?? t`not measured`),
        },
        {
          head: t`Minutes degraded by failures`,
          kind: "figure",
          cell: (line) => isVenue(line) && (line.degradedMinutes ?? t`not measured`),
        },
        { head: t`Incidents`, kind: "figure", cell: (line) => <Incidents line={line} /> },
        { head: t`Latency of the median hour`, kind: "figure", cell: ({ typicalP50Ms }) => latencyText(typicalP50Ms) },
        { head: t`Its 95th percentile`, kind: "figure", cell: ({ typicalP95Ms }) => latencyText(typicalP95Ms) },
        { head: t`Longest incident`, kind: "figure", cell: (line) => isVenue(line) && longestText(line) },
      ]}
    />
  );
}

function titleOf({ rank, rows }: RankGroup): string {
  if (rank === null) return t`Not measured enough: less than half of the minutes, so there is no uptime`;
  if (rows.length === 1) return t`Rank ${rank}`;
  return t`Rank ${rank}, shared by ${rows.length} venues: the measurements do not separate them (the least trouble first)`;
}

function Name({ line }: { line: Line }) {
  if (!isVenue(line)) return <>{plural(line.venues, "This venue", "All {0} venues together")}</>;
  return (
    <a href={`/venues/${line.id}`}>
      <bdi>{line.name}</bdi>
    </a>
  );
}

function Uptime({ line: { uptimePct, withoutMaintenance } }: { line: Line }) {
  return (
    <>
      {uptimePct === null ? t`not enough measured` : <b>{percentText(uptimePct)}</b>}
      {withoutMaintenance !== null && (
        <>
          <br />
          <span class="minor">{withoutMaintenanceText(withoutMaintenance)}</span>
        </>
      )}
    </>
  );
}

function Bounds({ line, start }: { line: Line; start: number | null }) {
  const { uptimePct: uptime, uptimePctLow: low, uptimePctHigh: high } = line;
  if (low === null) return <>{t`not measured`}</>;
  return (
    <>
      {uptime !== null && start !== null && low >= start && <UptimeInterval {...{ low, uptime, start }} high={high!} />}
      {t`${numberText(low)} to ${percentText(high!)}`}
    </>
  );
}

function Incidents({ line }: { line: Line }) {
  if (!isVenue(line)) return <>{line.incidents}</>;
  const { id, days, incidents, openIncidents } = line;
  return (
    <>
      {incidents === 0 ? 0 : <a href={`/incidents?venue=${id}&days=${days}`}>{incidents}</a>}
      {openIncidents > 0 && `, ${t`${openIncidents} open`}`}
    </>
  );
}

function latencyText(ms: number | null): string {
  return ms === null ? t`too few answers` : msText(ms);
}

function longestText({ longestIncidentSeconds: seconds }: ReliabilityRow): string {
  return seconds === null ? t`none` : durationText(seconds * 1000);
}

function withoutFailuresText(row: ReliabilityRow): string {
  const share = withoutFailuresPct(row);
  return share === null ? t`unknown` : percentText(share);
}

/** Of the measured minutes, never rounded up; null where there is no uptime. Slow answers are no failures. */
function withoutFailuresPct({
  uptimePct,
  measuredMinutes,
  downMinutes,
  degradedMinutes,
}: ReliabilityRow): number | null {
  if (uptimePct === null) return null;
  const withoutFailures = measuredMinutes - downMinutes! - degradedMinutes!;
  return Math.floor((withoutFailures * 100_000) / measuredMinutes) / 1000;
}

const drawingWidth = 120;
const drawingMargin = 2;

/** Where a drawing of uptimes may begin, in per cent. */
const axisStarts = [99.99, 99.9, 99.5, 99, 98, 95, 90, 80, 50, 0];

/** The start of a scale that shows all of these lower bounds and no more than it must; null if there are none. */
function scaleStart(lows: readonly number[]): number | null {
  if (lows.length === 0) return null;
  return axisStarts.find((start) => lows.every((low) => low >= start)) ?? 0;
}

export interface UptimeIntervalProps {
  low: number;
  high: number;
  uptime: number;
  start: number;
}

/** The bounds as a bar and the uptime as a mark. Hidden from screen readers, since the same figures stand beside it. */
function UptimeInterval({ low, high, uptime, start }: UptimeIntervalProps) {
  const at = (percent: number) => drawingMargin + Math.round((drawingWidth * (percent - start)) / (100 - start));
  return (
    <svg class="interval" viewBox={`0 0 ${drawingWidth + 2 * drawingMargin} 16`} aria-hidden="true">
      <path class="baseline" d={`M${drawingMargin} 8h${drawingWidth}`} />
      <path class="range" d={`M${at(low)} 8H${Math.max(at(high), at(low) + 2)}`} />
      <path class="mark" d={`M${at(uptime)} 2v12`} />
    </svg>
  );
}

export type ReliabilityData = TypeOf<typeof reliabilityResponse>;
export type ReliabilityRow = ReliabilityData["venues"][number];

interface RankGroup {
  /** Null: not measured enough for an uptime. */
  rank: number | null;
  rows: ReliabilityRow[];
}

/** Venues that share a rank, first rank first. Those without an uptime are last, even if their bounds rank them. */
function rankGroups({ venues, ranks }: ReliabilityData): RankGroup[] {
  const groups: RankGroup[] = ranks.map(({ rank, venues: ids }) => ({
    rank,
    rows: venues.filter(({ id, uptimePct }) => uptimePct !== null && ids.includes(id)).sort(byTrouble),
  }));
  groups.push({ rank: null, rows: venues.filter(({ uptimePct }) => uptimePct === null) });
  return groups.filter(({ rows }) => rows.length > 0);
}

/**
 * What shares a rank differs in how much went wrong while it was up. Minutes know failed answers only, so incidents,
 * which also tell of slow ones, decide between equal shares.
 */
function byTrouble(a: ReliabilityRow, b: ReliabilityRow): number {
  return withoutFailuresPct(b)! - withoutFailuresPct(a)! || a.incidents - b.incidents;
}

export interface ExcludedPeriodsProps {
  data: ReliabilityData;
  /** By id. */
  regionNames: ReadonlyMap<string, string>;
}

/** A page lists as many; the JSON has all. */
const mostPeriods = 20;

/** What was left out of the window, and why. */
function ExcludedPeriods({ data, regionNames }: ExcludedPeriodsProps) {
  const { excluded, venues, generatedAt } = data;
  const names = new Map(venues.map(({ id, name }) => [id, name]));
  const minutes = excluded.reduce((sum, { minutes }) => sum + minutes, 0);
  return (
    <section aria-labelledby="excluded">
      <h2 id="excluded">{t`What does not count`}</h2>
      <p>
        {excluded.length === 0
          ? t`Every measured minute of every region counts: no region was impaired.`
          : excludedSumText(excluded.length, counted(minutes, "minute"))}
      </p>
      <ul>
        {excluded.slice(0, mostPeriods).map(({ region, from, to, minutes, reason, venues: ids }) => (
          <li key={`${region} ${from}`}>
            {periodText(
              <a href={`/regions#${region}`}>{isolated(regionNames.get(region) ?? region)}</a>,
              counted(minutes, "minute"),
              <Instant at={from} now={generatedAt} />,
              to && <Instant at={to} now={generatedAt} />,
            )}{" "}
            {compareWords.reasons[reason] ?? reason}.{" "}
            {t`Recognised by ${nameList(ids.map((id) => names.get(id) ?? id))}.`}
          </li>
        ))}
      </ul>
      {excluded.length > mostPeriods && <p>{olderExcludedText(excluded.length - mostPeriods)}</p>}
    </section>
  );
}

function periodText(region: VNode, minutes: string, from: VNode, to: VNode | null | ""): ComponentChildren {
  return to
    ? t`${region} was left out for ${minutes}, from ${from} until ${to}.`
    : t`${region} was left out for ${minutes}, from ${from} until now, and it still lasts.`;
}

function excludedSumText(count: number, minutes: string): string {
  return plural(
    count,
    "One period is left out of all figures above, {1} in all. A region had trouble of its own then, so what it saw is not counted.",
    "{0} periods are left out of all figures above, {1} in all. A region had trouble of its own then, so what it saw is not counted.",
    minutes,
  );
}

function olderExcludedText(count: number): string {
  return plural(
    count,
    "{0} older period is listed in the JSON of this page.",
    "{0} older periods are listed in the JSON of this page.",
  );
}
