import type { RequestHandler } from "express";
import type { ComponentChildren } from "preact";
import type { Category, Registry } from "../../../shared/registry/registry.js";
import { parameterReader } from "../api/parameters.js";
import { queryOf } from "../api/request.js";
import type { TypeOf } from "../api/shapes.js";
import { reliabilityParameters, reliabilityResponse } from "../board/reliability.js";
import { type Windows, dataOf } from "../board/snapshot.js";
import { withoutEmpty } from "./board.js";
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
import { answerPage, type Rendered } from "./page-answer.js";
import type { PageProps } from "./page.js";
import { Instant, TableFrame, WindowForm } from "./parts.js";
import { compareWords, windowWords } from "./words.js";

export function compareRoute(registry: Registry, windows: Windows, rendered: Rendered): RequestHandler {
  const { days, category } = reliabilityParameters;
  const regionNames = new Map(registry.regions.map(({ id, name }) => [id, name]));
  const read = withForm(parameterReader({ days, category }), (window) => <WindowForm path="/compare" {...window} />);
  return async (request, response) => {
    const { days, category } = read(withoutEmpty(queryOf(request)));
    const snapshot = await windows.reliability(days, category);
    const body = rendered(`compare ${days} ${category}`, [snapshot], () =>
      comparePage({ reliability: dataOf(reliabilityResponse, snapshot), regionNames, category }),
    );
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
      title: `Venues compared ${windowWords.during(days)}`,
      icon: "unknown",
      section: "compare",
      json,
      generatedAt,
      age,
      refreshS: 60,
      description: lead,
      path: days === reliabilityParameters.days.absent && category === null ? "/compare" : `/compare${selection}`,
    },
    children: (
      <>
        <h1>{lead}</h1>
        <WindowForm path="/compare" days={days} category={category} />
        <p>
          Uptime is the share of the measured minutes in which a venue was not down. Nobody knows what happened in the
          other minutes. So the bounds give the uptime of all scheduled minutes as if every unmeasured minute had been
          down, and as if none had. A venue ranks below those whose lower bound is above its upper bound: they were more
          available, whatever happened in the unmeasured minutes. All days are UTC days, and the present day counts
          until a few minutes ago.
        </p>
        {venues.length > 0 && <Leaderboard data={reliability} groups={groups} />}
        <ExcludedPeriods data={reliability} regionNames={regionNames} />
        <More selection={selection} />
      </>
    ),
  };
}

function leadOf([first]: readonly RankGroup[], venues: number, during: string): string {
  if (!first) return "No venue of this selection is measured yet.";
  const { rank, rows } = first;
  if (rank === null) return `No venue was measured enough ${during} to be ranked.`;
  return rows.length === 1
    ? `${isolated(rows[0]!.name)} alone has rank ${rank} ${during}.`
    : `${rows.length === venues ? "All" : `${rows.length} of`} ${venues} venues share rank ${rank} ${during}: the measurements do not separate them.`;
}

function More({ selection }: { selection: string }) {
  const links = [
    [`/v1/reliability${selection}`, "As JSON"],
    [`/v1/reliability.csv${selection}`, "As CSV"],
    [`/v1/reliability.xlsx${selection}`, "As a workbook for spreadsheets (XLSX)"],
    ["/methodology", "How this is measured"],
  ] as const;
  return (
    <section aria-labelledby="more">
      <h2 id="more">The same figures, and how they are made</h2>
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

const columnCount = 10;

/** The venues by rank, with a row for all of them. */
function Leaderboard({ data, groups }: { data: ReliabilityData; groups: readonly RankGroup[] }) {
  const start = scaleStart(
    data.venues.flatMap(({ uptimePct, uptimePctLow }) => (uptimePct !== null ? uptimePctLow! : [])),
  );
  return (
    <TableFrame caption={`Venues by rank ${windowWords.during(data.days)}`}>
      <thead>
        <Heads start={start} />
      </thead>
      {groups.map((group) => (
        <tbody key={group.rank}>
          <tr>
            <th scope="rowgroup" colSpan={columnCount} class="group">
              {group.rank === null
                ? "Not measured enough: less than half of the minutes, so there is no uptime"
                : group.rows.length === 1
                  ? `Rank ${group.rank}`
                  : `Rank ${group.rank}, shared by ${group.rows.length} venues: the measurements do not separate them`}
            </th>
          </tr>
          {group.rows.map((row) => (
            <VenueRow key={row.id} row={row} start={start} />
          ))}
        </tbody>
      ))}
      <tfoot>
        <FleetRow fleet={data.fleet} start={start} />
      </tfoot>
    </TableFrame>
  );
}

function Heads({ start }: { start: number | null }) {
  return (
    <tr>
      <th scope="col">Venue</th>
      <Head>Uptime</Head>
      <th scope="col">{start === null ? "Bounds" : `Bounds, drawn from ${percentText(start)} to 100\u00a0%`}</th>
      {[
        "Measured",
        "Minutes down",
        "Minutes degraded",
        "Incidents",
        "Latency of the median hour",
        "One in 20 is slower than",
        "Longest incident",
      ].map((word) => (
        <Head key={word}>{word}</Head>
      ))}
    </tr>
  );
}

function VenueRow({ row, start }: { row: ReliabilityRow; start: number | null }) {
  const { incidents, openIncidents, longestIncidentSeconds } = row;
  return (
    <tr>
      <th scope="row">
        <a href={`/venues/${row.id}`}>
          <bdi>{row.name}</bdi>
        </a>
      </th>
      <Availability of={row} start={start} />
      <Figure>{row.downMinutes ?? "not measured"}</Figure>
      <Figure>{row.degradedMinutes ?? "not measured"}</Figure>
      <Figure>
        {incidents === 0 ? 0 : <a href={`/incidents?venue=${row.id}&days=${row.days}`}>{incidents}</a>}
        {openIncidents > 0 && `, ${openIncidents} open`}
      </Figure>
      <Latencies of={row} />
      <Figure>{longestIncidentSeconds === null ? "none" : durationText(longestIncidentSeconds * 1000)}</Figure>
    </tr>
  );
}

/** Minutes and lengths of several venues are not added up: nothing published does. */
function FleetRow({ fleet, start }: { fleet: ReliabilityData["fleet"]; start: number | null }) {
  return (
    <tr>
      <th scope="row">{fleet.venues === 1 ? "This venue" : `All ${fleet.venues} venues together`}</th>
      <Availability of={fleet} start={start} />
      <td />
      <td />
      <Figure>{fleet.incidents}</Figure>
      <Latencies of={fleet} />
      <td />
    </tr>
  );
}

type Available = Pick<
  ReliabilityRow,
  "uptimePct" | "uptimePctLow" | "uptimePctHigh" | "coveragePct" | "withoutMaintenance"
>;

function Availability({ of, start }: { of: Available; start: number | null }) {
  const { uptimePct, uptimePctLow: low, uptimePctHigh: high, coveragePct, withoutMaintenance } = of;
  const isDrawn = uptimePct !== null && low !== null && start !== null && low >= start;
  return (
    <>
      <Figure>
        {uptimePct === null ? "not enough measured" : <b>{percentText(uptimePct)}</b>}
        {withoutMaintenance !== null && (
          <>
            <br />
            <span class="minor">{withoutMaintenanceText(withoutMaintenance)}</span>
          </>
        )}
      </Figure>
      <td>
        {isDrawn && <UptimeInterval low={low} high={high!} uptime={uptimePct} start={start} />}
        {low === null ? "not measured" : `${low} to ${percentText(high!)}`}
      </td>
      <Figure>{coveragePct === null ? "not measured" : percentText(coveragePct)}</Figure>
    </>
  );
}

function Latencies({ of }: { of: Pick<ReliabilityRow, "typicalP50Ms" | "typicalP95Ms"> }) {
  const { typicalP50Ms: p50, typicalP95Ms: p95 } = of;
  return (
    <>
      <Figure>{p50 === null ? "too few answers" : msText(p50)}</Figure>
      <Figure>{p95 === null ? "too few answers" : msText(p95)}</Figure>
    </>
  );
}

function Head({ children }: { children: ComponentChildren }) {
  return (
    <th scope="col" class="figure">
      {children}
    </th>
  );
}

function Figure({ children }: { children: ComponentChildren }) {
  return <td class="figure">{children}</td>;
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
    rows: venues.filter(({ id, uptimePct }) => uptimePct !== null && ids.includes(id)),
  }));
  groups.push({ rank: null, rows: venues.filter(({ uptimePct }) => uptimePct === null) });
  return groups.filter(({ rows }) => rows.length > 0);
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
      <h2 id="excluded">What does not count</h2>
      <p>
        {excluded.length === 0
          ? "Every measured minute of every region counts: no region was impaired."
          : excludedSumText(excluded.length, counted(minutes, "minute"))}
      </p>
      <ul>
        {excluded.slice(0, mostPeriods).map(({ region, from, to, minutes, reason, venues: ids }) => (
          <li key={`${region} ${from}`}>
            <a href={`/regions#${region}`}>{isolated(regionNames.get(region) ?? region)}</a> was left out for{" "}
            {counted(minutes, "minute")}, from <Instant at={from} now={generatedAt} /> until{" "}
            {to === null ? "now, and it still lasts" : <Instant at={to} now={generatedAt} />}.{" "}
            {compareWords.reasons[reason] ?? reason}.{" "}
            {`Recognised by ${nameList(ids.map((id) => names.get(id) ?? id))}.`}
          </li>
        ))}
      </ul>
      {excluded.length > mostPeriods && <p>{olderExcludedText(excluded.length - mostPeriods)}</p>}
    </section>
  );
}

function excludedSumText(count: number, minutes: string): string {
  return `${count === 1 ? "One period is" : `${count} periods are`} left out of all figures above, ${minutes} in all. In them a region had trouble of its own, so what it saw counts against no venue.`;
}

function olderExcludedText(count: number): string {
  return `${count} older ${count === 1 ? "period is" : "periods are"} listed in the JSON of this page.`;
}
