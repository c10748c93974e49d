import { msText } from "../format.js";
import { TableFrame } from "../parts/table-frame.js";
import { TableHead } from "../parts/table-head.js";

import { BeforeAndDuring } from "./before-and-during.js";
import type { IncidentDetail, RegionNames } from "./incident-detail.js";
import { regionName } from "./region-name.js";

const latencySourceNotes = {
  component: "This is the latency of the endpoint itself.",
  "venue-rest": "A stream has no latency of its own; this is that of the venue's endpoints.",
};

const bucketNotes = {
  minute: "It is kept by whole minutes, so a short incident includes some time before and after it.",
  hour: "It is kept by whole hours, since the incident lasted longer than a day.",
};

const latencyColumns: [name: string, isFigure: boolean][] = [
  ["Region", false],
  ["Before (outline) and during (filled)", false],
  ["Median in the day before", true],
  ["Median during", true],
  ["95th percentile during", true],
  ["Slowest median during", true],
  ["Answers before", true],
  ["Answers during", true],
];

interface LatencyTableProps {
  latency: IncidentDetail["latency"];
  regionNames: RegionNames;
}

/** Median latency in the day before and during the incident, with bars on one scale. */
export function LatencyTable({ latency, regionNames }: LatencyTableProps) {
  if (latency === null) return <p>Not known: there was no good answer in the day before, nor during the incident.</p>;
  const { source, bucketMs, before, during, regions } = latency;
  const all = {
    name: "All regions",
    ...{ beforeP50Ms: before.p50Ms, beforeAnswers: before.answers },
    // a percentile of some regions would stand beside a median of all
    p95Ms: regions.every(({ p95Ms }) => p95Ms !== null) ? during.p95Ms : null,
    ...{ p50Ms: during.p50Ms, slowestMs: during.slowestMs, answers: during.answers },
  };
  const rows = [...regions.map((row) => ({ ...row, name: regionName(regionNames, row.region) })), all];
  const most = Math.max(1, ...rows.flatMap((row) => [row.beforeP50Ms ?? 0, row.p50Ms ?? 0]));
  return (
    <>
      <p>
        {latencySourceNotes[source]} {bucketNotes[bucketMs < 3_600_000 ? "minute" : "hour"]}
      </p>
      <TableFrame caption="Latency of good answers, by region">
        <TableHead columns={latencyColumns} />
        <tbody>
          {rows.map((row) => (
            <tr key={row.name}>
              <th scope="row">{row.name}</th>
              <td>
                <BeforeAndDuring before={row.beforeP50Ms} during={row.p50Ms} most={most} />
              </td>
              {[row.beforeP50Ms, row.p50Ms, row.p95Ms, row.slowestMs].map((ms, at) => (
                <td key={at} class="figure">
                  {ms === null ? "unknown" : msText(ms)}
                </td>
              ))}
              <td class="figure">{row.beforeAnswers}</td>
              <td class="figure">{row.answers}</td>
            </tr>
          ))}
        </tbody>
      </TableFrame>
    </>
  );
}
