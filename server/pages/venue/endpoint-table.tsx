import { isolated } from "../parts/isolated.js";
import { counted, dayText, msText, percentText, sinceMs } from "../format.js";
import { TableFrame } from "../parts/table-frame.js";
import { Sign, StateWord } from "../parts/sign.js";
import { seenState } from "../parts/state-rank.js";
import { faultMeanings, measuredWords } from "../words.js";
import type { VenueDetail } from "./venue-view.js";

type Endpoint = VenueDetail["endpoints"][number];

export interface MeasuredSectionProps {
  detail: VenueDetail;
  /** Name of the selected region. */
  region: string;
  now: string;
}

/** REST endpoints as the selected region measured them over the range. */
export function EndpointSection({ detail: { endpoints }, region, now }: MeasuredSectionProps) {
  if (endpoints.length === 0) return null;
  const hasLag = endpoints.some(({ lag }) => lag !== null);
  const hasCertificate = endpoints.some(({ certificateExpiresAt }) => certificateExpiresAt !== null);
  return (
    <section aria-labelledby="endpoints">
      <h2 id="endpoints">REST endpoints</h2>
      <TableFrame caption={`Endpoints as seen from ${isolated(region)}`}>
        <thead>
          <tr>
            <th scope="col">Endpoint</th>
            <th scope="col">Seen from here</th>
            <th scope="col" class="figure">
              Good samples
            </th>
            <th scope="col" class="figure">
              Median
            </th>
            <th scope="col" class="figure">
              95th percentile
            </th>
            {hasCertificate && <th scope="col">Certificate</th>}
            {hasLag && <th scope="col">Chain head</th>}
          </tr>
        </thead>
        <tbody>
          {endpoints.map((endpoint) => (
            <tr key={endpoint.component}>
              <th scope="row">{isolated(endpoint.label)}</th>
              <td>
                <SeenHere part={endpoint} />
              </td>
              <td class="figure">
                <GoodShare part={endpoint} />
              </td>
              <td class="figure">{endpoint.p50Ms === null ? "not measured" : msText(endpoint.p50Ms)}</td>
              <td class="figure">{endpoint.p95Ms === null ? "not measured" : msText(endpoint.p95Ms)}</td>
              {hasCertificate && (
                <td>
                  <Certificate expiresAt={endpoint.certificateExpiresAt} now={now} />
                </td>
              )}
              {hasLag && <td>{lagText(endpoint.lag)}</td>}
            </tr>
          ))}
        </tbody>
      </TableFrame>
    </section>
  );
}

type Part = Endpoint | VenueDetail["streams"][number];

export function SeenHere({ part: { regionState, newestFault, unknownBecause } }: { part: Part }) {
  return (
    <>
      <StateWord state={seenState(regionState, unknownBecause)} fault={newestFault} />
      {newestFault !== null && <div class="minor">newest: {faultMeanings[newestFault]}</div>}
    </>
  );
}

export function GoodShare({ part: { goodPct, samples } }: { part: Part }) {
  if (goodPct === null) return <>not measured</>;
  return (
    <>
      {percentText(goodPct)}
      <div class="minor">{measuredWords.ofSamples(samples)}</div>
    </>
  );
}

/** Renewal is usually automatic and a month ahead: with less than this left, somebody has forgotten it. */
const soonDays = 14;

function Certificate({ expiresAt, now }: { expiresAt: string | null; now: string }) {
  if (expiresAt === null) return <>none seen in a day</>;
  const day = <time dateTime={expiresAt}>{dayText(expiresAt, now)}</time>;
  if (expiresAt <= now)
    return (
      <>
        <Sign state="outage" /> expired {day}
      </>
    );
  const days = Math.floor(sinceMs(now, expiresAt) / 86_400_000);
  return (
    <>
      {days < soonDays && <Sign state="degraded" />} expires {day}, in {counted(days, "day")}
    </>
  );
}

/** How far an endpoint's chain head is behind the freshest one that this region has seen. */
function lagText(lag: Endpoint["lag"]): string {
  if (lag === null) return "names no head";
  const behind =
    lag.blocks === null
      ? "distance unknown"
      : lag.blocks === 0
        ? "at the freshest head"
        : `${lag.blocks} ${lag.blocks === 1 ? "block" : "blocks"} behind`;
  return lag.backwards === 0
    ? behind
    : `${behind}, went backwards ${lag.backwards} ${lag.backwards === 1 ? "time" : "times"} in 24 hours`;
}
