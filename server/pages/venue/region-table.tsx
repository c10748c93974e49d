import { isolated } from "../parts/isolated.js";
import { durationText, msText, percentText, sinceMs } from "../format.js";
import { TableFrame } from "../parts/table-frame.js";
import { StateWord } from "../parts/sign.js";
import { isTrouble, isUnjudged, rank } from "../parts/state-rank.js";
import { measuredWords, type State, viewWords } from "../words.js";
import type { VenueMatrix } from "./matrix.js";
import type { VenueDetail } from "./venue-view.js";

type Compared = VenueDetail["regions"]["compare"][number];

/** The venue as each region alone sees it, over the range. */
export function RegionSection({ detail, matrix }: { detail: VenueDetail; matrix: VenueMatrix }) {
  const { generatedAt, latency } = detail;
  return (
    <section aria-labelledby="regions">
      <h2 id="regions">Regions compared</h2>
      <p>This is what each region alone sees. No decision rests on one region while several are published.</p>
      <TableFrame caption={`The venue from each region, over ${viewWords.ranges[latency.range]}`}>
        <thead>
          <tr>
            <th scope="col">Region</th>
            <th scope="col">Sees now</th>
            <th scope="col">Does it count?</th>
            <th scope="col" class="figure">
              Good samples
            </th>
            <th scope="col" class="figure">
              Median
            </th>
            <th scope="col" class="figure">
              95th percentile
            </th>
          </tr>
        </thead>
        <tbody>
          {detail.regions.compare.map((compared) => (
            <tr key={compared.region}>
              <th scope="row">
                <a href={`/regions#${compared.region}`}>{isolated(compared.name)}</a>
              </th>
              <td>
                <StateWord state={seenBy(compared, matrix)} />
              </td>
              <td>{countsText(compared, generatedAt)}</td>
              <td class="figure">
                {compared.goodPct === null ? "not measured" : percentText(compared.goodPct)}
                <div class="minor">{measuredWords.ofSamples(compared.samples)}</div>
              </td>
              <td class="figure">{compared.p50Ms === null ? "not measured" : msText(compared.p50Ms)}</td>
              <td class="figure">{compared.p95Ms === null ? "not measured" : msText(compared.p95Ms)}</td>
            </tr>
          ))}
        </tbody>
      </TableFrame>
    </section>
  );
}

/** Without the components of which nothing is concluded. */
function seenBy({ region, state }: Compared, { components }: VenueMatrix): State {
  const judged = components.filter(({ unknownBecause }) => !isUnjudged(unknownBecause));
  if (judged.length === components.length) return state;
  const seen = judged.flatMap(({ cells }) => cells.filter((cell) => cell.region === region));
  const [worst] = seen.map((cell) => cell.state).sort((a, b) => rank(a) - rank(b));
  if (worst !== undefined && isTrouble(worst)) return worst;
  return seen.some((cell) => cell.state === "operational") ? "operational" : "unknown";
}

function countsText({ reporting, impaired, newestAt }: Compared, now: string): string {
  if (impaired) return "no: it is impaired";
  if (reporting) return "yes, it reports";
  return newestAt === null
    ? "no: it sends nothing"
    : `no: its newest sample is ${durationText(sinceMs(newestAt, now))} old`;
}
