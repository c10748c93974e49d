import { assetPath } from "./assets.js";
import { type Day, DayBars, DayHints, hasTrouble, troubleText } from "./day-bars.js";
import { counted, dayText, durationText, isolated, msText, percentText, withoutMaintenanceText } from "./format.js";
import { numberText, plural, t } from "./language.js";
import { axisTop, type ChartArea, gapsBetween, Instant, lineThrough } from "./parts.js";
import { type Column, Folded, Table } from "./table.js";
import { jsonPathOf, msOrNot, type VenueDetail, type VenueView } from "./venue-measurements.js";
import { boardWords, compareWords, matrixWords, viewWords } from "./words.js";

interface UptimeRow extends Uptime {
  name: string;
  degradedMinutes?: number | null;
}

/** Ninety days of the venue, its two halves, and each component, never without how much of them was measured. */
export function UptimeSection({ detail: { summary } }: { detail: VenueDetail }) {
  const rows: UptimeRow[] = [
    { ...summary, name: t`The venue` },
    ...[
      { name: t`All REST endpoints`, ...summary.rest },
      { name: t`All streams`, ...summary.streams },
    ].filter(({ scheduledMinutes }) => scheduledMinutes > 0),
    ...summary.components.map((part) => ({
      ...part,
      name: `${isolated(part.label)} (${matrixWords.kinds[part.component.startsWith("ws:") ? "ws" : "rest"]})`,
    })),
  ];
  return (
    <Folded id="uptime" title={t`Uptime over ninety days`} gist={uptimeText(summary)} open={false}>
      <p>
        {t`Uptime is the share of measured minutes without an outage. The bounds give the uptime of all scheduled minutes as if every unmeasured minute had been down, and as if none had.`}{" "}
        <a href="/methodology#five-definitions">{t`How it is computed`}</a>
      </p>
      <Table
        caption={t`Uptime of the venue and its parts`}
        rows={rows}
        columns={[
          { head: t`What`, cell: ({ name }) => name },
          ...uptimeColumns(),
          {
            ...degradedColumn(),
            cell: ({ degradedMinutes }) =>
              degradedMinutes === undefined ? t`see below` : minutesText(degradedMinutes),
          },
        ]}
      />
    </Folded>
  );
}

interface Uptime extends UptimeBounds {
  coveragePct: number | null;
  downMinutes: number | null;
}

const uptimeColumns = (): Column<Uptime>[] => [
  { head: t`Uptime`, kind: "figure", cell: uptimeText },
  { head: t`Bounds`, kind: "figure", cell: boundsText },
  { head: t`Measured`, kind: "figure", cell: ({ coveragePct }) => coverageText(coveragePct) },
  { head: t`Down`, kind: "figure", cell: ({ downMinutes }) => minutesText(downMinutes) },
];

/** Named as on `/compare`: minutes know failed samples only, while slowness has incidents. */
const degradedColumn = () => ({ head: t`Degraded by failures`, kind: "figure" }) as const;

interface UptimeBounds {
  uptimePct: number | null;
  uptimePctLow: number | null;
  uptimePctHigh: number | null;
  withoutMaintenance?: { uptimePct: number | null; maintenanceMinutes: number } | null;
}

function uptimeText({ uptimePct, withoutMaintenance = null }: UptimeBounds): string {
  const uptime = uptimePct === null ? t`unknown` : percentText(uptimePct);
  return withoutMaintenance === null ? uptime : `${uptime} (${withoutMaintenanceText(withoutMaintenance)})`;
}

/** The uptime if all that was not measured had been down, and if none had. */
function boundsText({ uptimePctLow: low, uptimePctHigh: high }: UptimeBounds): string {
  if (low === null || high === null) return t`unknown`;
  return low === high ? percentText(low) : t`${numberText(low)} to ${percentText(high)}`;
}

/** Null is not zero: nothing was measured then. */
function minutesText(minutes: number | null): string {
  if (minutes === null) return t`not measured`;
  return minutes === 0 ? t`none` : durationText(minutes * 60_000);
}

function coverageText(coveragePct: number | null): string {
  return coveragePct === null ? t`not measured` : percentText(coveragePct);
}

export interface DaysSectionProps {
  detail: VenueDetail;
  regionNames: ReadonlyMap<string, string>;
  now: string;
}

/** Ninety days as bars, and as a table. */
export function DaysSection({ detail: { exchange, days, excluded }, regionNames, now }: DaysSectionProps) {
  const hrefOf = (day: Day) => (day.incidents > 0 ? incidentsPathOf(exchange.id, day) : null);
  return (
    <section aria-labelledby="days" class="ninety">
      <h2 id="days">{t`Ninety days`}</h2>
      <div class="of-days">
        <DayBars days={days} />
        <DayHints {...{ days, now, hrefOf }} />
      </div>
      <p class="ends minor">
        {[days[0]!, days.at(-1)!].map(({ date }) => (
          <span key={date}>{dayText(date, now)}</span>
        ))}
      </p>
      <TroubledDays {...{ days, now, hrefOf }} />
      <details>
        <summary>{t`The ninety days as a table`}</summary>
        <p class="minor">{boardWords.legendDays}</p>
        <DayTable days={days} now={now} />
      </details>
      {excluded.length > 0 && (
        <details>
          <summary>
            {plural(
              excluded.length,
              "{0} period is left out of every uptime",
              "{0} periods are left out of every uptime",
            )}
          </summary>
          <p>{t`In these minutes a region had trouble of its own. They count against no venue.`}</p>
          <ul>
            {excluded.map(({ region, from, minutes, reason }) => (
              <li key={`${region} ${from}`}>
                {t`${isolated(regionNames.get(region) ?? region)}: ${counted(minutes, "minute")} from ${(
                  <Instant at={from} now={now} />
                )} (${compareWords.reasons[reason] ?? reason})`}
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

const dayMs = 86_400_000;

/**
 * The history as it was at the end of a day: first what began on that day, then what may have lasted into it, however
 * early it began.
 */
function incidentsPathOf(venue: string, { date }: Day): string {
  const end = new Date(Date.parse(date) + dayMs).toISOString().slice(0, 10);
  return `/incidents?venue=${venue}&days=365&before=${end}T00:00:00Z#day-${date}`;
}

/** So many fit onto a phone; the table has all. */
const mostTroubledDays = 10;

interface TroubledDaysProps {
  days: readonly Day[];
  now: string;
  hrefOf: (day: Day) => string | null;
}

/** The newest days with trouble in words, for keyboards and fingers: bars are narrow. */
function TroubledDays({ days, now, hrefOf }: TroubledDaysProps) {
  const troubled = days.filter(hasTrouble).reverse();
  if (troubled.length === 0) return null;
  const more = troubled.length - mostTroubledDays;
  return (
    <>
      <p id="troubled-days">{t`Days with trouble, newest first:`}</p>
      <ul class="troubled-days" aria-labelledby="troubled-days">
        {troubled.slice(0, mostTroubledDays).map((day) => {
          const href = hrefOf(day);
          const text = `${dayText(day.date, now)}: ${troubleText(day)}`;
          return <li key={day.date}>{href === null ? text : <a href={href}>{text}</a>}</li>;
        })}
        {more > 0 && <li>{t`${more} more in the table`}</li>}
      </ul>
    </>
  );
}

function DayTable({ days, now }: { days: VenueDetail["days"]; now: string }) {
  return (
    <Table
      caption={t`Uptime by day (UTC), newest first`}
      rows={[...days].reverse()}
      columns={[
        { head: t`Day`, cell: ({ date }) => dayText(date, now) },
        ...uptimeColumns(),
        {
          ...degradedColumn(),
          cell: ({ degradedMinutes, incidents }) => (
            <>
              {minutesText(degradedMinutes)}
              {incidents > 0 && `, ${plural(incidents, "{0} incident", "{0} incidents")}`}
            </>
          ),
        },
      ]}
    />
  );
}

// REST latency over the range, seen from the selected region: a chart, and the table behind it.

const latencyExplained = {
  "24h": (region: string) => t`Time to a full answer of all REST endpoints, minute by minute, seen from ${region}.`,
  "7d": (region: string) => t`Time to a full answer of all REST endpoints, hour by hour, seen from ${region}.`,
};

type Latency = VenueDetail["latency"];

export interface LatencySectionProps {
  latency: Latency;
  view: VenueView;
  /** Name of the region. */
  region: string;
  now: string;
}

export function LatencySection({ latency, view, region, now }: LatencySectionProps) {
  const isMeasured = latency.points.some(({ p50Ms }) => p50Ms !== null);
  return (
    <section aria-labelledby="latency">
      <h2 id="latency">{t`Latency`}</h2>
      <p>{latencyExplained[latency.range](isolated(region))}</p>
      {isMeasured ? (
        <>
          <LatencyChart {...{ latency, view, region, now }} />
          <details>
            <summary>{t`Latency as a table`}</summary>
            <LatencyTable latency={latency} now={now} />
          </details>
        </>
      ) : (
        <p class="none">{t`No latency was measured from this region in this range.`}</p>
      )}
    </section>
  );
}

const latencyArea: ChartArea = { width: 1_440, height: 240 };

function LatencyChart({ latency, view, region, now }: LatencySectionProps) {
  const { points } = latency;
  const medians = points.map(({ p50Ms }) => p50Ms);
  const slowest = points.map(({ p95Ms }) => p95Ms);
  const top = axisTop(Math.max(...[...medians, ...slowest].map((value) => value ?? 0)));
  return (
    <figure class="latency">
      <figcaption>
        <Key name="p50" word={t`Median`} /> <Key name="p95" word={t`95th percentile`} />{" "}
        <Key name="unmeasured" word={t`too little measured`} />
      </figcaption>
      <div class="plot">
        <div class="y-axis minor" aria-hidden="true">
          {[top, top / 2, 0].map((ms) => (
            <span key={ms}>{msText(ms)}</span>
          ))}
        </div>
        <svg
          viewBox={`0 0 ${latencyArea.width} ${latencyArea.height}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={labelOf(latency, isolated(region))}
        >
          <path
            class="unmeasured"
            d={gapsBetween(
              medians.map((value) => value === null),
              latencyArea,
            )}
          />
          <path class="grid" d={latencyGrid} />
          <path class="p95" d={lineThrough(slowest, top, latencyArea)} />
          <path class="p50" d={lineThrough(medians, top, latencyArea)} />
        </svg>
        <div class="x-axis minor">
          {[0, 1, 2, 3].map((quarter) => (
            <span key={quarter}>
              <Instant at={points[Math.floor((quarter * points.length) / 4)]!.at} now={now} />
            </span>
          ))}
        </div>
      </div>
      <ZoomButton view={view} />
    </figure>
  );
}

const quarterX = latencyArea.width / 4;
const latencyGrid = `M0 .5h${latencyArea.width}M0 ${latencyArea.height / 2}h${latencyArea.width}M0 ${latencyArea.height}h${latencyArea.width}${[
  0, 1, 2, 3,
]
  .map((quarter) => `M${quarter * quarterX} 0v${latencyArea.height}`)
  .join("")}`;

function Key({ name, word }: { name: "p50" | "p95" | "unmeasured"; word: string }) {
  const shape = name === "unmeasured" ? "M0 0h24v12h-24z" : "M0 6h24";
  return (
    <span class="key">
      <svg viewBox="0 0 24 12" aria-hidden="true">
        <path class={name} d={shape} />
      </svg>
      {word}
    </span>
  );
}

/**
 * Only for readers with JavaScript (browser/zoom.ts), which draws the chart again where they can zoom in. The style
 * sheet shows its name, so that the text of the page is the same for all.
 */
function ZoomButton({ view }: { view: VenueView }) {
  return (
    <button
      type="button"
      class="zoom"
      aria-label={t`Zoom into this chart`}
      data-zoom={jsonPathOf(view)}
      data-library={assetPath("uplot.js")}
      data-styles={assetPath("uplot.css")}
      data-p50={t`Median`}
      data-p95={t`95th percentile`}
      data-hint={t`Drag over a part of the chart to zoom in. Double-click to see all of it.`}
      data-back={t`Back to the plain chart`}
      data-failed={t`The chart could not be loaded. Try again`}
    />
  );
}

function labelOf({ range, points }: Latency, region: string): string {
  const medians = points.flatMap(({ p50Ms }) => p50Ms ?? []);
  const slowest = points.flatMap(({ p95Ms }) => p95Ms ?? []);
  return labelText({
    range: viewWords.ranges[range],
    region,
    least: msText(Math.min(...medians)),
    most: msText(Math.max(...medians)),
    slowest: slowest.length > 0 ? msText(Math.max(...slowest)) : null,
    missing: points.length - medians.length,
    buckets: points.length,
  });
}

function labelText(of: {
  range: string;
  region: string;
  least: string;
  most: string;
  slowest: string | null;
  missing: number;
  buckets: number;
}): string {
  const latency =
    of.slowest === null
      ? t`Latency over ${of.range}, seen from ${of.region}: the median is between ${of.least} and ${of.most}.`
      : t`Latency over ${of.range}, seen from ${of.region}: the median is between ${of.least} and ${of.most}, the 95th percentile at most ${of.slowest}.`;
  return `${latency} ${t`${of.missing} of ${of.buckets} points have too few answers.`}`;
}

type Point = Latency["points"][number];

/** The numbers of the chart: each hour of seven days, or what stood out in each hour of a day. */
function LatencyTable({ latency: { range, points }, now }: { latency: Latency; now: string }) {
  return range === "7d" ? <HoursTable {...{ points, now }} /> : <MinutesTable {...{ points, now }} />;
}

function HoursTable({ points, now }: { points: Point[]; now: string }) {
  return (
    <Table
      caption={t`Latency hour by hour`}
      rows={points}
      columns={[
        hourColumn(now),
        { head: t`Median`, kind: "figure", cell: ({ p50Ms }) => msOrNot(p50Ms) },
        { head: t`95th percentile`, kind: "figure", cell: ({ p95Ms }) => msOrNot(p95Ms) },
        { head: t`Answers`, kind: "figure", cell: ({ samples }) => samples },
      ]}
    />
  );
}

function hourColumn(now: string): Column<{ at: string }> {
  return { head: t`Hour from`, cell: ({ at }) => <Instant at={at} now={now} /> };
}

/** Percentiles of minutes cannot be averaged: an hour has its lowest and highest minute instead. */
function MinutesTable({ points, now }: { points: Point[]; now: string }) {
  const medians = ({ minutes }: Hour) => minutes.flatMap(({ p50Ms }) => p50Ms ?? []);
  const slowest = ({ minutes }: Hour) => minutes.flatMap(({ p95Ms }) => p95Ms ?? []);
  return (
    <Table
      caption={t`Latency by hour: its lowest and highest minute`}
      rows={hoursOf(points)}
      columns={[
        hourColumn(now),
        {
          head: t`Minutes measured`,
          kind: "figure",
          cell: (hour) => t`${medians(hour).length} of ${hour.minutes.length}`,
        },
        { head: t`Lowest median`, kind: "figure", cell: (hour) => msOrNot(leastOf(medians(hour))) },
        { head: t`Highest median`, kind: "figure", cell: (hour) => msOrNot(mostOf(medians(hour))) },
        { head: t`Highest 95th percentile`, kind: "figure", cell: (hour) => msOrNot(mostOf(slowest(hour))) },
      ]}
    />
  );
}

function leastOf(values: readonly number[]): number | null {
  return values.length > 0 ? Math.min(...values) : null;
}

function mostOf(values: readonly number[]): number | null {
  return values.length > 0 ? Math.max(...values) : null;
}

interface Hour {
  at: string;
  minutes: Point[];
}

function hoursOf(points: readonly Point[]): Hour[] {
  const hours = new Map<string, Point[]>();
  for (const point of points) {
    const hour = point.at.slice(0, 13);
    const minutes = hours.get(hour);
    if (minutes) minutes.push(point);
    else hours.set(hour, [point]);
  }
  return [...hours.values()].map((minutes) => ({ at: minutes[0]!.at, minutes }));
}
