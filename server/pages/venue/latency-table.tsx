import { msText } from "../format.js";
import { Instant } from "../parts/instant.js";
import { TableFrame } from "../parts/table-frame.js";

import type { VenueDetail } from "./venue-view.js";

type Latency = VenueDetail["latency"];
type Point = Latency["points"][number];

/** The numbers of the chart: each hour of seven days, or what stood out in each hour of a day. */
export function LatencyTable({ latency: { range, points }, now }: { latency: Latency; now: string }) {
  return range === "7d" ? <HoursTable {...{ points, now }} /> : <MinutesTable {...{ points, now }} />;
}

function HoursTable({ points, now }: { points: Point[]; now: string }) {
  return (
    <TableFrame caption="Latency hour by hour">
      <thead>
        <tr>
          <th scope="col">Hour from</th>
          <th scope="col" class="figure">
            Median
          </th>
          <th scope="col" class="figure">
            95th percentile
          </th>
          <th scope="col" class="figure">
            Answers
          </th>
        </tr>
      </thead>
      <tbody>
        {points.map(({ at, p50Ms, p95Ms, samples }) => (
          <tr key={at}>
            <th scope="row">
              <Instant at={at} now={now} />
            </th>
            <td class="figure">{msOrNot(p50Ms)}</td>
            <td class="figure">{msOrNot(p95Ms)}</td>
            <td class="figure">{samples}</td>
          </tr>
        ))}
      </tbody>
    </TableFrame>
  );
}

/** Percentiles of minutes cannot be averaged: an hour has its lowest and highest minute instead. */
function MinutesTable({ points, now }: { points: Point[]; now: string }) {
  return (
    <TableFrame caption="Latency by hour: its lowest and highest minute">
      <thead>
        <tr>
          <th scope="col">Hour from</th>
          <th scope="col" class="figure">
            Minutes measured
          </th>
          <th scope="col" class="figure">
            Lowest median
          </th>
          <th scope="col" class="figure">
            Highest median
          </th>
          <th scope="col" class="figure">
            Highest 95th percentile
          </th>
        </tr>
      </thead>
      <tbody>
        {hoursOf(points).map(({ at, minutes }) => {
          const medians = minutes.flatMap(({ p50Ms }) => p50Ms ?? []);
          const slowest = minutes.flatMap(({ p95Ms }) => p95Ms ?? []);
          return (
            <tr key={at}>
              <th scope="row">
                <Instant at={at} now={now} />
              </th>
              <td class="figure">
                {medians.length} of {minutes.length}
              </td>
              <td class="figure">{msOrNot(medians.length > 0 ? Math.min(...medians) : null)}</td>
              <td class="figure">{msOrNot(medians.length > 0 ? Math.max(...medians) : null)}</td>
              <td class="figure">{msOrNot(slowest.length > 0 ? Math.max(...slowest) : null)}</td>
            </tr>
          );
        })}
      </tbody>
    </TableFrame>
  );
}

function hoursOf(points: readonly Point[]): { at: string; minutes: Point[] }[] {
  const hours = new Map<string, Point[]>();
  for (const point of points) {
    const hour = point.at.slice(0, 13);
    const minutes = hours.get(hour);
    if (minutes) minutes.push(point);
    else hours.set(hour, [point]);
  }
  return [...hours.values()].map((minutes) => ({ at: minutes[0]!.at, minutes }));
}

function msOrNot(ms: number | null): string {
  return ms === null ? "not measured" : msText(ms);
}
