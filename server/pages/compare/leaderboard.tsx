import type { ComponentChildren } from "preact";
import { durationText, msText, percentText } from "../format.js";
import { windowWords } from "../words.js";
import type { RankGroup, ReliabilityData, ReliabilityRow } from "./rank-groups.js";
import { scaleStart, UptimeInterval } from "./uptime-interval.js";
import { TableFrame } from "../parts/table-frame.js";

const columns = 10;

/** The venues by rank, with a row for all of them. */
export function Leaderboard({ data, groups }: { data: ReliabilityData; groups: readonly RankGroup[] }) {
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
            <th scope="rowgroup" colSpan={columns} class="group">
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

type Available = Pick<ReliabilityRow, "uptimePct" | "uptimePctLow" | "uptimePctHigh" | "coveragePct">;

function Availability({ of, start }: { of: Available; start: number | null }) {
  const { uptimePct, uptimePctLow: low, uptimePctHigh: high, coveragePct } = of;
  const isDrawn = uptimePct !== null && low !== null && start !== null && low >= start;
  return (
    <>
      <Figure>{uptimePct === null ? "not enough measured" : <b>{percentText(uptimePct)}</b>}</Figure>
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
