import type { ComponentChildren } from "preact";
import { durationText, msText, percentText } from "../format.js";
import { compareWords, windowWords } from "../words.js";
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
    <TableFrame caption={compareWords.caption(windowWords.during(data.days))}>
      <thead>
        <Heads start={start} />
      </thead>
      {groups.map((group) => (
        <tbody key={group.rank}>
          <tr>
            <th scope="rowgroup" colSpan={columns} class="group">
              {group.rank === null ? compareWords.unranked : compareWords.rank(group.rank, group.rows.length)}
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
  const { venue, uptime, coverage, down, degraded, incidents, usual, slowest, longest } = compareWords;
  return (
    <tr>
      <th scope="col">{venue}</th>
      <Head>{uptime}</Head>
      <th scope="col">{start === null ? compareWords.anyBounds : compareWords.bounds(percentText(start))}</th>
      {[coverage, down, degraded, incidents, usual, slowest, longest].map((word) => (
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
      <Figure>{row.downMinutes ?? compareWords.notMeasured}</Figure>
      <Figure>{row.degradedMinutes ?? compareWords.notMeasured}</Figure>
      <Figure>
        {incidents === 0 ? 0 : <a href={`/incidents?venue=${row.id}&days=${row.days}`}>{incidents}</a>}
        {openIncidents > 0 && `, ${compareWords.stillOpen(openIncidents)}`}
      </Figure>
      <Latencies of={row} />
      <Figure>
        {longestIncidentSeconds === null ? compareWords.none : durationText(longestIncidentSeconds * 1000)}
      </Figure>
    </tr>
  );
}

/** Minutes and lengths of several venues are not added up: nothing published does. */
function FleetRow({ fleet, start }: { fleet: ReliabilityData["fleet"]; start: number | null }) {
  return (
    <tr>
      <th scope="row">{compareWords.fleet(fleet.venues)}</th>
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
      <Figure>{uptimePct === null ? compareWords.notEnough : <b>{percentText(uptimePct)}</b>}</Figure>
      <td>
        {isDrawn && <UptimeInterval low={low} high={high!} uptime={uptimePct} start={start} />}
        {low === null ? compareWords.notMeasured : compareWords.boundsText(low, percentText(high!))}
      </td>
      <Figure>{coveragePct === null ? compareWords.notMeasured : percentText(coveragePct)}</Figure>
    </>
  );
}

function Latencies({ of }: { of: Pick<ReliabilityRow, "typicalP50Ms" | "typicalP95Ms"> }) {
  const { typicalP50Ms: p50, typicalP95Ms: p95 } = of;
  return (
    <>
      <Figure>{p50 === null ? compareWords.tooFewHours : msText(p50)}</Figure>
      <Figure>{p95 === null ? compareWords.tooFewHours : msText(p95)}</Figure>
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
