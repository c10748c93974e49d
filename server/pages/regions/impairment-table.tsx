import { durationText, sinceMs } from "../format.js";
import { isolated } from "../parts/isolated.js";
import { Instant } from "../parts/instant.js";
import type { RegionSummary } from "../parts/region-health.js";
import { regionsWords } from "../words.js";
import { venueNames } from "./venue-names.js";
import { TableFrame } from "../parts/table-frame.js";

export interface ImpairmentTableProps {
  region: RegionSummary;
  /** Of venues by id. */
  names: ReadonlyMap<string, string>;
  now: string;
}

/** When the region's votes were not counted. */
export function ImpairmentTable({ region: { name, impairments }, names, now }: ImpairmentTableProps) {
  if (impairments.length === 0) return <p>No impairment in the last seven days.</p>;

  const caption = `Impairments of ${isolated(name)}, newest first`;
  return (
    <>
      <h3>Impairments of the last seven days</h3>
      <TableFrame caption={caption}>
        <thead>
          <tr>
            {["Began", "Recognised", "Ended", "Lasted", regionsWords.recognisedBy].map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {impairments.map(({ startedAt, recognisedAt, endedAt, venues, measured }) => (
            <tr key={startedAt}>
              <th scope="row">
                <Instant at={startedAt} now={now} />
              </th>
              <td>
                <Instant at={recognisedAt} now={now} />
              </td>
              <td>{endedAt === null ? "it still lasts" : <Instant at={endedAt} now={now} />}</td>
              <td>{durationText(sinceMs(startedAt, endedAt ?? now))}</td>
              <td class="words">
                {venues.length} of {measured} measured: {venueNames(venues, names)}
              </td>
            </tr>
          ))}
        </tbody>
      </TableFrame>
    </>
  );
}
