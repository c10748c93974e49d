/** REST latency over the range, seen from the selected region: a chart, and the table behind it. */
import { assetPath } from "../assets.js";
import { isolated } from "../parts/isolated.js";
import { msText } from "../format.js";
import { type ChartArea, axisTop, gapsBetween, lineThrough } from "../parts/chart-line.js";
import { Instant } from "../parts/instant.js";
import { viewWords } from "../words.js";
import { LatencyTable } from "./latency-table.js";
import { jsonPathOf, type VenueDetail, type VenueView } from "./venue-view.js";

const latencyExplained = {
  "24h": (region: string) => `Time to a full answer of all REST endpoints, minute by minute, seen from ${region}.`,
  "7d": (region: string) => `Time to a full answer of all REST endpoints, hour by hour, seen from ${region}.`,
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
      <h2 id="latency">Latency</h2>
      <p>{latencyExplained[latency.range](isolated(region))}</p>
      {isMeasured ? (
        <>
          <LatencyChart {...{ latency, view, region, now }} />
          <details>
            <summary>Latency as a table</summary>
            <LatencyTable latency={latency} now={now} />
          </details>
        </>
      ) : (
        <p class="none">No latency was measured from this region in this range.</p>
      )}
    </section>
  );
}

const area: ChartArea = { width: 1_440, height: 240 };

function LatencyChart({ latency, view, region, now }: LatencySectionProps) {
  const { points } = latency;
  const medians = points.map(({ p50Ms }) => p50Ms);
  const slowest = points.map(({ p95Ms }) => p95Ms);
  const top = axisTop(Math.max(...[...medians, ...slowest].map((value) => value ?? 0)));
  return (
    <figure class="latency">
      <figcaption>
        <Key name="p50" word="Median" /> <Key name="p95" word="95th percentile" />{" "}
        <Key name="unmeasured" word="too little measured" />
      </figcaption>
      <div class="plot">
        <div class="y-axis minor" aria-hidden="true">
          {[top, top / 2, 0].map((ms) => (
            <span key={ms}>{msText(ms)}</span>
          ))}
        </div>
        <svg
          viewBox={`0 0 ${area.width} ${area.height}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={labelOf(latency, isolated(region))}
        >
          <path
            class="unmeasured"
            d={gapsBetween(
              medians.map((value) => value === null),
              area,
            )}
          />
          <path class="grid" d={grid} />
          <path class="p95" d={lineThrough(slowest, top, area)} />
          <path class="p50" d={lineThrough(medians, top, area)} />
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

const quarterX = area.width / 4;
const grid = `M0 .5h${area.width}M0 ${area.height / 2}h${area.width}M0 ${area.height}h${area.width}${[0, 1, 2, 3]
  .map((quarter) => `M${quarter * quarterX} 0v${area.height}`)
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
      aria-label="Zoom into this chart"
      data-zoom={jsonPathOf(view)}
      data-library={assetPath("uplot.js")}
      data-styles={assetPath("uplot.css")}
      data-p50="Median"
      data-p95="95th percentile"
      data-hint="Drag over a part of the chart to zoom in. Double-click to see all of it."
      data-back="Back to the plain chart"
      data-failed="The chart could not be loaded. Try again"
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
  return (
    `Latency over ${of.range}, seen from ${of.region}: the median is between ${of.least} and ${of.most}` +
    `${of.slowest === null ? "" : `, the 95th percentile at most ${of.slowest}`}. ` +
    `${of.missing} of ${of.buckets} points have too few answers.`
  );
}
